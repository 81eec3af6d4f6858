from __future__ import annotations

import numpy as np
import pytest

import tiny
from masked_texts import MASK
from zerotag.explain.adaptive_lime import AdaptiveLimeScorer, standard_errors
from zerotag.explain.lime import LimeScorer, draw_samples, linear_weights
from zerotag.types import FloatArray, Sentence

SENTENCE = Sentence.from_words(["the", "pump", "may", "stop", "near", "the", "old", "pump", "."])


def scorer(error: float, samples: int = 2000, seed: int = 0) -> AdaptiveLimeScorer:
    made = tiny.labeller()
    return AdaptiveLimeScorer(made.network, made.aligner, MASK, error=error, samples=samples, seed=seed)


def test_with_all_samples_the_weights_are_those_of_lime() -> None:
    made = tiny.labeller()
    sentences = [SENTENCE, Sentence.from_words(["may"]), Sentence.from_words([])]
    exact = LimeScorer(made.network, made.aligner, MASK, samples=600)
    for found, expected in zip(scorer(0.0, 600).score(sentences), exact.score(sentences), strict=True):
        assert found.sentence_scores == pytest.approx(expected.sentence_scores, abs=1e-6)
        np.testing.assert_allclose(found.word_scores, expected.word_scores, atol=1e-6)


def test_a_larger_error_takes_fewer_samples() -> None:
    passes = []
    for error in (0.0, 0.001, 1.0):
        one = scorer(error)
        list(one.score([SENTENCE] * 40))  # more than share batches
        passes.append(one.passes)
    assert passes[0] > passes[1] > passes[2]


def linear_with_noise(kept: np.ndarray, draws: np.random.Generator) -> FloatArray:
    """A probability that the words add up to, and noise that grows with the words that are hidden."""
    exact = kept @ np.array([0.3, 0.0, -0.1, 0.2, 0.05]) + 0.2
    noise = draws.normal(size=len(kept)) * 0.1 * (~kept).sum(axis=1)
    found: FloatArray = (exact + noise)[:, None].astype(np.float32)
    return found


def test_standard_errors_are_how_far_weights_differ_from_seed_to_seed() -> None:
    weights, errors = [], []
    for seed in range(300):
        draws = np.random.default_rng(seed)
        kept = draw_samples(5, 400, draws)
        probabilities, once = linear_with_noise(kept, draws), np.ones(400, np.int64)
        weights.append(linear_weights(kept, once, probabilities))
        errors.append(standard_errors(kept, once, probabilities))
    np.testing.assert_allclose(np.mean(errors, axis=0), np.std(weights, axis=0), rtol=0.15)


def test_a_sample_drawn_several_times_counts_as_often() -> None:
    draws = np.random.default_rng(0)
    kept = draw_samples(5, 40, draws)
    probabilities, times = linear_with_noise(kept, draws), np.arange(40) % 3 + 1
    once = np.ones(times.sum(), np.int64)
    expected = standard_errors(np.repeat(kept, times, axis=0), once, np.repeat(probabilities, times, axis=0))
    np.testing.assert_allclose(standard_errors(kept, times, probabilities), expected, rtol=1e-4)


def test_the_stated_error_is_kept() -> None:
    exact = next(scorer(0.0, 20_000).score([SENTENCE])).word_scores
    found = [next(scorer(0.001, 20_000, seed).score([SENTENCE])).word_scores for seed in range(1, 13)]
    assert np.sqrt(np.mean((np.array(found) - exact) ** 2)) <= 0.001
