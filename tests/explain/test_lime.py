from __future__ import annotations

import numpy as np
import pytest
from lime.lime_base import LimeBase
from lime.lime_text import LimeTextExplainer
from scipy import stats
from sklearn.metrics import pairwise_distances

import tiny
from masked_texts import MASK, probabilities
from zerotag.explain.lime import LimeScorer, draw_samples, linear_weights
from zerotag.explain.masking import Masker, Versions
from zerotag.types import FloatArray, Sentence


@pytest.mark.parametrize("words", [1, 2, 7, 40, 400])
def test_weights_are_those_of_the_lime_package(words: int) -> None:
    random = np.random.default_rng(words)
    kept = draw_samples(words, 300, random)
    drawn = random.random((300, 2)).astype(np.float32)
    found = linear_weights(kept, np.ones(300, np.int64), drawn)

    distances = 100 * pairwise_distances(kept.astype(float), kept[:1].astype(float), metric="cosine").ravel()
    package = LimeBase(lambda distance: np.sqrt(np.exp(-(distance**2) / 25**2)), random_state=0)
    for label in range(2):
        _, weights, _, _ = package.explain_instance_with_data(
            kept.astype(float), drawn, distances, label, words, feature_selection="none"
        )
        expected = [weight for _, weight in sorted(weights)]
        np.testing.assert_allclose(found[:, label], expected, rtol=1e-5, atol=1e-7)


def test_a_sample_drawn_several_times_counts_as_often() -> None:
    kept = draw_samples(5, 20, np.random.default_rng(0))
    drawn = np.random.default_rng(1).random((20, 1)).astype(np.float32)
    times = np.arange(1, 21)
    often = linear_weights(np.repeat(kept, times, axis=0), np.ones(210, np.int64), np.repeat(drawn, times, axis=0))
    np.testing.assert_allclose(linear_weights(kept, times, drawn), often, rtol=1e-5)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_scores_are_those_of_the_lime_package_from_text_to_weights(family: str) -> None:
    labeller = tiny.labeller(family)
    words = ["the", "pump", "may", "stop", "near", "the", "old", "pump", "."]  # one that is there twice is two
    masked_texts: list[str] = []

    def classify(texts: list[str]) -> FloatArray:
        masked_texts.extend(texts)
        positive = probabilities(labeller, texts)
        return np.hstack([1 - positive, positive])

    explainer = LimeTextExplainer(
        bow=False,
        split_expression=str.split,
        mask_string=labeller.tokenizer.mask_token,
        feature_selection="none",
        random_state=0,
    )
    explanation = explainer.explain_instance(" ".join(words), classify, num_samples=400)
    expected = [weight for _, weight in sorted(explanation.as_map()[1])]

    kept = np.array([[word != "[MASK]" for word in text.split()] for text in masked_texts])
    versions = Versions(Sentence.from_words(words), kept, np.ones(len(kept), np.int64))
    ((_, predicted),) = Masker(labeller.network, labeller.aligner, MASK).probabilities([versions])
    found = linear_weights(kept, versions.times, predicted)[:, 0]
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert np.ptp(found) > 0.01


def test_samples_hide_any_number_of_words_and_any_words_alike() -> None:
    kept = draw_samples(6, 12_001, np.random.default_rng(0))
    assert kept[0].all()
    hidden = ~kept[1:]
    assert stats.chisquare(np.bincount(hidden.sum(axis=1), minlength=7)[1:]).pvalue > 0.01
    assert (np.bincount(hidden.sum(axis=1), minlength=7)[0]) == 0
    # On average 3.5 of 6 words are hidden, each of them as often.
    np.testing.assert_allclose(hidden.mean(axis=0), 3.5 / 6, atol=0.02)
    pairs = (hidden[:, :, None] & hidden[:, None, :]).mean(axis=0)[np.triu_indices(6, 1)]
    np.testing.assert_allclose(pairs, pairs.mean(), atol=0.02)


def test_a_long_document_is_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerotag.explain.lime.DRAWN_AT_ONCE", 100)
    kept = draw_samples(30, 50, np.random.default_rng(0))
    assert kept[0].all()
    assert ((~kept[1:]).sum(axis=1) >= 1).all()
    assert len(np.unique(kept, axis=0)) > 40


def test_repeated_samples_are_evaluated_once() -> None:
    labeller = tiny.labeller()
    scorer = LimeScorer(labeller.network, labeller.aligner, MASK)
    (scored,) = scorer.score([Sentence.from_words(["the", "pump", "may"])])
    assert scorer.passes == 2**3  # of 5000 samples
    assert np.ptp(scored.word_scores) > 0.001


def test_the_seed_decides_the_samples() -> None:
    labeller = tiny.labeller()
    sentence = Sentence.from_words(["the", "pump", "may", "fail", "near", "the", "old", "coast", "."])
    first, again, other = (
        next(LimeScorer(labeller.network, labeller.aligner, MASK, samples=30, seed=seed).score([sentence]))
        for seed in (0, 0, 1)
    )
    assert np.array_equal(first.word_scores, again.word_scores)
    assert not np.allclose(first.word_scores, other.word_scores, atol=1e-4)


def test_a_sentence_without_words_has_no_scores() -> None:
    labeller = tiny.labeller(labels=("hedge", "doubt"))
    (scored,) = LimeScorer(labeller.network, labeller.aligner, MASK).score([Sentence.from_words([])])
    assert scored.word_scores.shape == (0, 2)
