"""Thresholds from a few labelled sentences and a prior."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerotag.calibration import Calibration
from zerotag.evaluation.few_words import (
    Gain,
    LabelledWords,
    best_threshold,
    first_of_the_best,
    gain,
    log_odds,
    posterior,
    sentence_losses,
    threshold_from_few_words,
)
from zerotag.evaluation.metrics import precision_recall_f1, threshold_from_word_labels
from zerotag.types import BoolArray, FloatArray

PRIOR = Calibration(1.0, 0.0, 0.4)


def drawn(sentences: int, truth: Calibration, seed: int) -> tuple[list[FloatArray], list[BoolArray], BoolArray]:
    """Ten words a sentence, whose labels are drawn from what their scores mean in truth."""
    draw = np.random.default_rng(seed)
    scores = [draw.beta(0.4, 1.2, 10).astype(np.float32) for _ in range(sentences)]
    gold = [draw.random(10) < truth.probabilities(one) for one in scores]
    return scores, gold, np.array([flags.any() for flags in gold])


def tuned(sentences: int, truth: Calibration, before: float, seed: int = 0) -> float:
    scores, gold, labels = drawn(sentences, truth, seed)
    words = LabelledWords.of(scores, gold, labels, float(labels.mean()))
    return threshold_from_few_words(words, PRIOR, log_odds(PRIOR, before))


def f1(threshold: float, truth: Calibration) -> float:
    scores, gold, _ = drawn(2_000, truth, seed=99)
    return precision_recall_f1(np.concatenate(gold), np.concatenate(scores) >= threshold).f1


def optimum(truth: Calibration) -> float:
    scores, gold, _ = drawn(2_000, truth, seed=98)
    return threshold_from_word_labels(gold, scores)


def test_sentences_count_as_if_drawn_at_the_base_rate() -> None:
    """Half of the four are positive where a tenth should be: they count a fifth, the others 0.9 / 0.5 times."""
    scores = [np.zeros(size, np.float32) for size in (2, 1, 1, 3)]
    gold = [np.zeros(size, np.bool_) for size in (2, 1, 1, 3)]
    words = LabelledWords.of(scores, gold, np.array([True, True, False, False]), 0.1)
    assert words.weights.tolist() == pytest.approx([0.2, 0.2, 0.2, 1.8, 1.8, 1.8, 1.8])
    assert words.sentences == 4


def test_sentences_of_one_kind_count_alike() -> None:
    words = LabelledWords.of([np.zeros(2, np.float32)], [np.ones(2, np.bool_)], np.array([True]), 0.1)
    assert words.weights.tolist() == [1, 1]


@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.9]), st.booleans(), st.sampled_from([0.5, 1.0])), min_size=1)
)
def test_the_best_threshold_is_that_of_all_that_there_are(words: list[tuple[float, bool, float]]) -> None:
    scores = np.array([score for score, _, _ in words], np.float32)
    weights = np.array([weight for _, _, weight in words])
    positive = weights * np.array([flag for _, flag, _ in words])

    def value(threshold: float) -> float:
        chosen = scores >= threshold
        return float(2 * positive[chosen].sum() / max(weights[chosen].sum() + positive.sum(), 1e-9))

    assert value(best_threshold(scores, positive, weights)) == pytest.approx(max(map(value, scores)))


def test_the_curve_finds_the_truth_when_there_is_much_to_see() -> None:
    truth = Calibration(1.6, -1.0, 0.4)
    scores, gold, labels = drawn(1_000, truth, seed=1)
    found = posterior(LabelledWords.of(scores, gold, labels, float(labels.mean())), PRIOR)
    assert found.stretch == pytest.approx(truth.stretch, rel=0.1)
    assert found.shift == pytest.approx(truth.shift, abs=0.15)


def test_the_curve_of_words_that_say_nothing_is_the_priors() -> None:
    nothing = LabelledWords(np.zeros(0, np.float32), np.zeros(0), np.zeros(0), np.zeros(0, np.int64))
    found = posterior(nothing, Calibration(1.3, -0.4))
    assert (found.stretch, found.shift) == pytest.approx((1.3, -0.4), abs=1e-3)


def test_five_sentences_do_not_hurt_a_prior_that_is_right() -> None:
    best = optimum(PRIOR)
    losses = [f1(best, PRIOR) - f1(tuned(5, PRIOR, best, seed), PRIOR) for seed in range(20)]
    alone = []
    for seed in range(20):
        scores, gold, _ = drawn(5, PRIOR, seed)
        alone.append(f1(best, PRIOR) - f1(threshold_from_word_labels(gold, scores), PRIOR))
    assert np.mean(losses) < 0.02
    assert np.mean(losses) < np.mean(alone) / 2


def test_two_hundred_decide_where_it_is_wrong() -> None:
    truth = Calibration(1.0, -2.0, 0.4)
    best, misled = f1(optimum(truth), truth), f1(0.2, truth)
    assert best - misled > 0.1
    gains = {n: np.mean([f1(tuned(n, truth, 0.2, seed), truth) for seed in range(10)]) for n in (5, 20, 200)}
    assert misled < gains[5] < gains[20] < gains[200]
    assert gains[200] > best - 0.01


def test_a_gain_is_believed_as_far_as_it_exceeds_its_error() -> None:
    assert Gain(0.1, 0.1).share_believed == pytest.approx(0.75)
    assert Gain(0.1, 0.2).share_believed == 0
    assert Gain(0.1, 0).share_believed == 1
    assert Gain(-0.1, 0).share_believed == 0


def test_the_gain_is_that_of_sentences_drawn_again() -> None:
    """Of two sentences one is decided rightly by both thresholds, the other by the new one alone.

    A resample has the second 0, 1 or 2 times, with chances 1/4, 1/2, 1/4. Then the old F1 is 1, 2/3 and 0.
    """
    scores = [np.array([0.9, 0.1], np.float32), np.array([0.4, 0.1], np.float32)]
    gold = [np.array([True, False]), np.array([True, False])]
    found = gain(LabelledWords.of(scores, gold, np.array([True, True]), 0.5), 0.5, 0.3)
    expected = np.array([0, 1 / 3, 1 / 3, 1])
    assert found.mean == pytest.approx(expected.mean(), abs=0.06)
    assert found.error == pytest.approx(expected.std(), abs=0.04)


def test_a_move_that_may_be_chance_is_hardly_made() -> None:
    """The threshold was right, and twenty sentences cannot tell much else: they move it little."""
    truth = PRIOR
    right = optimum(truth)
    losses = [f1(right, truth) - f1(tuned(20, truth, right, seed), truth) for seed in range(20)]
    assert np.mean(losses) < 0.005
    assert max(losses) < 0.015


def test_losses_of_sentences_are_those_of_their_words() -> None:
    words = LabelledWords(np.zeros(3, np.float32), np.array([1.0, 0, 1]), np.array([1.0, 1, 2]), np.array([2, 1]))
    found = sentence_losses(np.log([3.0, 1, 1 / 3]), words)  # chances of 3/4, 1/2 and 1/4
    np.testing.assert_allclose(found, [np.log(4 / 3) + np.log(2), 2 * np.log(4)])


@pytest.mark.parametrize(
    ("second", "chosen"),
    [
        ([0.9, 1.1, 1.0, 0.9], 0),  # better by 0.025, the standard error being 0.041
        ([0.9, 1.1, 0.9, 0.9], 1),  # by 0.05, it being 0.043
        ([1.0, 1.0, 1.0, 1.0], 0),
        ([1.1, 1.1, 1.1, 1.1], 0),
    ],
)
def test_the_most_cautious_within_a_standard_error_of_the_best(second: list[float], chosen: int) -> None:
    assert first_of_the_best(np.array([[1.0, 1.0, 1.0, 1.0], second, [2.0, 2.0, 2.0, 2.0]])) == chosen
