"""Word thresholds from sentence labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit, logit

from zerotag.calibration import Calibration
from zerotag.training.thresholds import (
    ORIGIN,
    added_up,
    best_expected_f1,
    calibration_from_sentence_labels,
    rule_from_sentence_labels,
    second_derivatives,
    word_threshold,
)
from zerotag.types import BoolArray, FloatArray, Rule


def scores(*values: float) -> FloatArray:
    return np.array(values, np.float32)


def threshold(words: Sequence[FloatArray], labels: BoolArray) -> float:
    found = calibration_from_sentence_labels(words, labels).threshold
    assert found is not None
    return found


def rule(words: Sequence[FloatArray], sentences: FloatArray, labels: BoolArray) -> Rule:
    return rule_from_sentence_labels(calibration_from_sentence_labels(words, labels), sentences, labels)


# The threshold with the highest expected F1


@pytest.mark.parametrize(
    ("probabilities", "chosen"),
    [
        # F1 to expect from the 1, 2, … most likely words is 2 Σ p / (n + 1.7): 0.667, 0.919, 0.723, 0.596.
        ([0.9, 0.8, 0.0, 0.0], 2),
        # 2 Σ p / (n + 2): 0.4, 0.6, 0.72, 0.667.
        ([0.6, 0.6, 0.6, 0.2], 3),
        # However unlikely a word is, it is better to find it than to find none.
        ([0.01], 1),
        ([0.1, 0.1, 0.1], 3),
        # 2 Σ p / (n + 1.1): 0.857, 0.677.
        ([0.9, 0.15, 0.05], 1),
    ],
)
def test_the_threshold_by_hand(probabilities: list[float], chosen: int) -> None:
    values = scores(0.95, 0.8, 0.5, 0.1)[: len(probabilities)]
    found = best_expected_f1(values, np.array(probabilities))
    assert Rule(found).words(values).tolist() == [place < chosen for place in range(len(values))]
    if chosen < len(values):
        assert found == pytest.approx((values[chosen - 1] + values[chosen]) / 2)  # new words differ a little
    else:
        assert found == values[-1]


def expected_f1(decisions: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> float:
    return float(2 * probabilities[decisions].sum() / (decisions.sum() + probabilities.sum()))


@given(st.lists(st.sampled_from([0.0, 1e-9, 0.01, 0.2, 0.21, 0.5, 0.9, 0.999999, 0.9999999, 1.0]), min_size=1))
def test_no_other_threshold_is_better(values: list[float]) -> None:
    """Also where words tie, and where their probabilities do though their scores do not."""
    found = scores(*values)
    probabilities = np.clip(found.astype(np.float64), 1e-6, 1 - 1e-6) ** 2
    best = max(expected_f1(found >= one, probabilities) for one in found)
    decisions = Rule(best_expected_f1(found, probabilities)).words(found)
    assert expected_f1(decisions, probabilities) == pytest.approx(best, rel=1e-12)


# The rule


def test_the_threshold_of_separable_words_is_between_them() -> None:
    """Cues score 0.7 to 0.8 and other words up to 0.2, where sentences of three words have at most one cue."""
    draw = np.random.default_rng(0)
    labels = np.arange(200) % 2 == 0
    words = [draw.uniform(0.02, 0.2, 3).astype(np.float32) for _ in labels]
    for sentence in np.flatnonzero(labels):
        words[sentence][draw.integers(3)] = draw.uniform(0.7, 0.8)
    found = threshold(words, labels)
    assert 0.2 < found < 0.7
    sentences = np.where(labels, 0.3, 0.1).astype(np.float32)
    chosen = rule(words, sentences, labels)
    assert chosen == Rule(word_threshold=found, sentence_threshold=chosen.sentence_threshold, origin=ORIGIN)
    assert 0.1 < chosen.sentence_threshold < 0.3


@pytest.mark.parametrize("label", [True, False])
def test_nothing_is_learnt_from_sentences_of_one_kind(label: bool) -> None:
    assert rule([scores(0.1, 0.9)] * 4, scores(0.1, 0.2, 0.8, 0.9), np.full(4, label)) == Rule()
    assert Rule().origin == "fixed"


def test_sentences_of_any_length_and_order_count() -> None:
    draw = np.random.default_rng(1)
    words = [draw.random(draw.integers(1, 9)).astype(np.float32) for _ in range(60)]
    labels = np.array([one.max() > 0.8 for one in words])
    order = draw.permutation(60)
    shuffled = threshold([words[i] for i in order], labels[order])
    assert threshold(words, labels) == pytest.approx(shuffled, abs=0.02)


@given(st.data())
def test_it_is_always_a_threshold(data: st.DataObject) -> None:
    """No warning, no infinity; some word is found, and no more than half; extreme scores and labels included."""
    score = st.floats(0, 1, width=32) | st.sampled_from([0.0, 1e-38, 0.5, 1.0])
    words = [
        scores(*one) for one in data.draw(st.lists(st.lists(score, min_size=1, max_size=5), min_size=1, max_size=8))
    ]
    labels = np.array(data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words))))
    sentences = scores(*(data.draw(score) for _ in words))
    chosen = rule(words, sentences, labels)
    assert 0 <= chosen.word_threshold <= 1
    assert 0 <= chosen.sentence_threshold <= 1
    if chosen.origin == ORIGIN:
        flat = np.concatenate(words)
        marked, half = chosen.words(flat).sum(), max(1, len(flat) // 2)
        if (flat == flat.max()).sum() <= half:
            assert 1 <= marked <= half
        elif flat.max() < 0.99:
            assert not marked, "most words are alike"
        assert any(chosen.sentence(float(one)) for one in sentences)


# Sentences drawn from known probabilities


class World:
    """Words with a known chance to be positive, one by one; a sentence is positive if one of its words is."""

    def __init__(self, rare: float, seed: int = 0, sentences: int = 1500) -> None:
        draw = np.random.default_rng(seed)
        lengths = draw.integers(3, 25, sentences)
        self._ends = np.cumsum(lengths)[:-1]
        likely = draw.random(lengths.sum()) < rare  # some words look like cues, most do not
        self.probabilities = expit(
            np.where(likely, draw.normal(1.5, 1.5, len(likely)), draw.normal(-6, 1.5, len(likely)))
        )
        drawn = draw.random(len(likely)) < self.probabilities
        self.labels = np.array([one.any() for one in np.split(drawn, self._ends)])

    def seen_as(self, stretch: float, shift: float) -> list[FloatArray]:
        """Scores which are off by a stretch and a shift of their logits."""
        return np.split(expit(stretch * logit(self.probabilities) + shift).astype(np.float32), self._ends)

    def regret(self, words: Sequence[FloatArray], chosen: float) -> float:
        """How much lower F1 is to be expected at a threshold than at the best."""
        flat = np.concatenate(words)
        best = max(expected_f1(flat >= one, self.probabilities) for one in np.quantile(flat, np.linspace(0.7, 1, 500)))
        return best - expected_f1(flat >= chosen, self.probabilities)


@pytest.mark.parametrize(
    ("stretch", "shift"), [(1.0, 0.0), (0.5, 0.0), (2.0, 0.0), (1.0, -2.0), (1.0, 2.0), (0.6, 1.5)]
)
@pytest.mark.parametrize("rare", [0.02, 0.15])
def test_a_distortion_of_the_scores_is_found_out(rare: float, stretch: float, shift: float) -> None:
    """To within half a point of F1, and with nearly the same words as without it."""
    world = World(rare)
    words, true = world.seen_as(stretch, shift), world.seen_as(1.0, 0.0)
    found = threshold(words, world.labels)
    assert world.regret(words, found) < 0.005
    if shift:
        assert world.regret(words, 0.5) > 0.015, "else the fixed threshold would do"
    chosen = np.concatenate(words) >= found
    chosen_without = np.concatenate(true) >= threshold(true, world.labels)
    assert (chosen != chosen_without).sum() < 0.02 * chosen.sum()


@pytest.mark.parametrize(("stretch", "shift"), [(1.0, 0.0), (2.0, -3.0), (0.5, 1.0)])
def test_so_is_a_distortion_of_the_scores_of_sentences(stretch: float, shift: float) -> None:
    """F1 is highest where sentences count as positive from half of its own highest value on (Lipton et al. 2014)."""
    draw = np.random.default_rng(2)
    probabilities = expit(draw.normal(0, 2.5, 2000))
    labels = draw.random(2000) < probabilities
    seen = expit(stretch * logit(probabilities) + shift).astype(np.float32)
    words = [scores(0.2, 0.4)] * 2000
    chosen = rule(words, seen, labels)
    best = max(expected_f1(probabilities >= one, probabilities) for one in np.linspace(0.1, 0.9, 500))
    meant = expit((logit(chosen.sentence_threshold) - shift) / stretch)
    assert meant == pytest.approx(best / 2, abs=0.03)
    assert best < 0.85, "else it would be 0.5, nearly"


# How sure it is


def test_the_interval_narrows_with_sentences_and_holds_the_threshold() -> None:
    widths = []
    for sentences in (40, 1500):
        world = World(0.15, sentences=sentences)
        words = world.seen_as(1.0, 0.0)
        found = calibration_from_sentence_labels(words, world.labels)
        assert found.threshold is not None
        assert found.lowest is not None
        assert found.highest is not None
        assert found.lowest <= found.threshold <= found.highest
        flat = np.concatenate(words)
        assert (found.fewest, found.most) == ((flat >= found.highest).mean(), (flat >= found.lowest).mean())
        widths.append(found.highest - found.lowest)
    assert widths[1] < 0.6 * widths[0]


def test_the_interval_holds_the_best_threshold_of_most_worlds() -> None:
    held = 0
    for seed in range(12):
        world = World(0.15, seed=seed, sentences=200)
        words = world.seen_as(0.7, -1.0)
        found = calibration_from_sentence_labels(words, world.labels)
        assert found.lowest is not None
        assert found.highest is not None
        held += any(world.regret(words, one) < 0.003 for one in np.linspace(found.lowest, found.highest, 30))
    assert held >= 10


def test_nothing_is_known_of_sentences_of_one_kind() -> None:
    assert calibration_from_sentence_labels([scores(0.1, 0.9)] * 4, np.ones(4, bool)) == Calibration(positive=1.0)
    assert not Calibration(positive=1.0).is_a_guess


def test_no_more_than_half_of_the_words_are_marked() -> None:
    """Every word is likelier than not to be positive, so the best would be to mark them all."""
    values = scores(0.9, 0.8, 0.7, 0.6)
    assert best_expected_f1(values, np.full(4, 0.8)) == pytest.approx(0.6)
    assert word_threshold(values, np.full(4, 0.8)) == pytest.approx(0.75)
    tied = scores(0.9, 0.7, 0.7, 0.7)
    assert word_threshold(tied, np.full(4, 0.8)) == pytest.approx(0.8)
    alike = scores(0.7, 0.7, 0.7, 0.2)
    assert word_threshold(alike, np.full(4, 0.8)) == pytest.approx(0.85), "none, since most are alike"
    assert word_threshold(values, np.array([0.9, 0.1, 0.0, 0.0])) == best_expected_f1(
        values, np.array([0.9, 0.1, 0, 0])
    )


def test_evidence_adds_up_by_hand() -> None:
    """Of 3 and 4: 7 if they are independent, 5 by squares, 4 if the strongest counts."""
    evidence, starts = np.array([3.0, 4.0, 2.0]), np.array([0, 2])
    assert added_up(evidence, starts, 1.0).tolist() == [7, 2]
    assert added_up(evidence, starts, 2.0).tolist() == pytest.approx([5, 2])
    assert added_up(evidence, starts, np.inf).tolist() == [4, 2]


def test_second_derivatives_of_a_parabola() -> None:
    def parabola(place: NDArray[np.float64]) -> float:
        x, y = place
        return float(3 * x * x - 2 * x * y + y * y + x - 5)

    np.testing.assert_allclose(second_derivatives(parabola, np.array([0.3, -1.0])), [[6, -2], [-2, 2]], atol=1e-8)
