"""The lexical baseline: logistic regression on words, beside scikit-learn's, and as a model like any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

import toy
import zerotag
from zerotag.calibration import sigmoid
from zerotag.config import ModelConfig
from zerotag.errors import ZerotagError
from zerotag.modeling.unigrams import first_occurrences
from zerotag.presets import preset
from zerotag.training.recipe import train
from zerotag.training.thresholds import ORIGIN
from zerotag.training.unigrams import STRENGTHS, bags_of_words, chosen, regression
from zerotag.types import Corpus, CorrectedExample, Example, IntArray, Sentence

MODEL, TRAINING = preset("lexical")


def random_bags(seed: int, sentences: int = 300, words: int = 40) -> tuple[list[IntArray], np.ndarray]:
    """Sentences whose labels depend on three of their words, and on chance."""
    draw = np.random.default_rng(seed)
    frequencies = 1 / np.arange(1, words + 1)
    drawn = [draw.choice(words, 8, p=frequencies / frequencies.sum()) for _ in range(sentences)]
    labels = np.array([draw.random() < sigmoid(np.array(3.0 * np.isin(one, (2, 7, 20)).sum() - 2)) for one in drawn])
    return drawn, labels


@pytest.mark.parametrize("strength", STRENGTHS)
def test_coefficients_are_those_of_scikit_learn(strength: float) -> None:
    sentences, labels = random_bags(1)
    bags = bags_of_words(sentences, 40)
    theirs = LogisticRegression(C=strength, tol=1e-8, max_iter=10_000).fit(bags.toarray(), labels)
    ours = regression(bags, labels, strength, np.zeros(41))
    np.testing.assert_allclose(ours[:-1], theirs.coef_[0], atol=2e-3)
    assert ours[-1] == pytest.approx(theirs.intercept_[0], abs=2e-3)


def test_the_strength_with_the_best_development_f1() -> None:
    """As a search over scikit-learn's own models finds it."""
    (sentences, labels), (dev, dev_labels) = random_bags(1), random_bags(2)
    bags, dev_bags = bags_of_words(sentences, 40), bags_of_words(dev, 40)
    f1s = []
    for strength in STRENGTHS:
        theirs = LogisticRegression(C=strength, tol=1e-8, max_iter=10_000).fit(bags.toarray(), labels)
        predicted = theirs.predict(dev_bags.toarray())
        f1s.append(2 * (predicted & dev_labels).sum() / (predicted.sum() + dev_labels.sum()))
    assert max(f1s) > min(f1s) + 0.04
    found = chosen(bags, labels, dev_bags, dev_labels)
    of_best = [
        regression(bags, labels, s, np.zeros(41)) for s, f1 in zip(STRENGTHS, f1s, strict=True) if f1 == max(f1s)
    ]
    assert min(np.abs(one - found).max() for one in of_best) < 5e-3


def test_a_word_counts_once() -> None:
    assert bags_of_words([np.array([3, 1, 3]), np.array([0])], 4).toarray().tolist() == [[0, 1, 0, 1], [1, 0, 0, 0]]
    numbers = torch.tensor([[3, 1, 3, 3], [2, 2, 0, 0]])
    mask = torch.tensor([[False, True, True, True], [True, True, False, False]])
    expected = [[False, True, True, False], [True, False, False, False]]
    assert first_occurrences(numbers, mask).tolist() == expected


def test_scores_by_hand() -> None:
    labeller = train(toy.corpus(200), toy.corpus(60, seed=3), model=MODEL, training=TRAINING)
    head: dict[str, Tensor] = labeller.network.head.state_dict()
    number = labeller.tokenizer.backend_tokenizer.token_to_id
    coefficient = {word: head["coefficients"][number(word), 0].item() for word in ("may", "the", "pump", "[UNK]")}
    assert coefficient["[UNK]"] == 0
    (scored,) = labeller.score([Sentence.from_words(["The", "pump", "MAY", "may", "explode"])])
    words = [coefficient[word] for word in ("the", "pump", "may", "may", "[UNK]")]
    intercept = head["intercept"].item()
    np.testing.assert_allclose(scored.word_scores[:, 0], sigmoid(np.array(words) + intercept), rtol=1e-5)
    total = sum(coefficient[word] for word in ("the", "pump", "may")) + intercept
    assert scored.sentence_scores[0] == pytest.approx(float(sigmoid(np.array(total))), rel=1e-5)
    assert labeller.label("the pump may leak").spans[0].text == "may"
    assert labeller.rules[0].origin == ORIGIN


def test_several_labels_and_a_saved_model(tmp_path: Path) -> None:
    labels = ("hedge", "fault")
    labeller = zerotag.train(
        toy.corpus(300, labels=labels), dev=toy.corpus(80, labels=labels, seed=2), preset="lexical", progress=False
    )
    gold = Corpus(labels, toy.gold(80, labels=labels, seed=5))
    measured = labeller.evaluate(gold).macro
    assert measured.word_f1 is not None
    assert measured.word_f1 > 0.95
    labeller.save_pretrained(tmp_path / "model")
    loaded = zerotag.load(tmp_path / "model")
    assert loaded.evaluate(gold) == labeller.evaluate(gold)
    assert loaded.manifest.model.encoder == "unigrams"
    words = loaded.label("the pump may fail", method="occlusion").words
    assert max(words, key=lambda word: word.scores["hedge"]).text == "may"


def test_classes() -> None:
    """Of two that exclude one another, what argues for one argues as much against the other."""
    examples = [Example(one.sentence, (one.labels[0], not one.labels[0])) for one in toy.corpus(200).examples]
    labeller = zerotag.train(Corpus(("bad", "good"), tuple(examples)), preset="lexical", progress=False)
    assert all(rule.exclusive for rule in labeller.rules)
    (scored,) = labeller.score([Sentence.from_words(["the", "pump", "may", "run"])])
    np.testing.assert_allclose(scored.word_scores.sum(axis=1), 1, atol=1e-2)
    assert labeller.label("the pump may run").label == "bad"


def test_a_document_of_many_windows_has_each_word_once() -> None:
    labeller = train(toy.corpus(100), model=replace(MODEL, window=16), training=TRAINING)
    short, long = labeller.score([Sentence.from_words(["the", "pump", "may"] * times) for times in (1, 40)])
    assert long.sentence_scores == pytest.approx(short.sentence_scores)
    np.testing.assert_allclose(long.word_scores, np.tile(short.word_scores, (40, 1)), rtol=1e-6)


def test_it_is_the_same_each_time_whatever_the_seed() -> None:
    """There is nothing to draw but the development set."""
    corpus, dev = toy.corpus(60), toy.corpus(30, seed=1)
    one, other = (train(corpus, dev, model=MODEL, training=replace(TRAINING, seed=seed)) for seed in (1, 2))
    for name, tensor in one.network.state_dict().items():
        assert torch.equal(tensor, other.network.state_dict()[name])


def test_encoder_and_head_go_together() -> None:
    with pytest.raises(ZerotagError, match="logistic-regression with encoder unigrams, another with any other"):
        ModelConfig(encoder="unigrams")
    with pytest.raises(ZerotagError, match="logistic-regression with encoder unigrams, another with any other"):
        ModelConfig(head="logistic-regression")


def test_what_it_cannot_do_is_said(tmp_path: Path) -> None:
    labeller = train(toy.corpus(60), model=MODEL, training=TRAINING)
    corrected = [CorrectedExample(one.sentence, one.labels, one.word_labels or ()) for one in toy.gold(5)]
    with pytest.raises(ZerotagError, match="head logistic-regression cannot learn from labelled words"):
        labeller.update(corrected)
    from zerotag.inference.onnx_export import export

    with pytest.raises(ZerotagError, match="'unigrams' cannot be exported"):
        export(labeller, tmp_path / "exported")
