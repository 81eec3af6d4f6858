"""Word thresholds from sentence labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit, logit

from zerotag.training.thresholds import ORIGIN, best_expected_f1, rule_from_sentence_labels, threshold
from zerotag.types import FloatArray, Rule


def scores(*values: float) -> FloatArray:
    return np.array(values, np.float32)


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
    rule = rule_from_sentence_labels(words, sentences, labels)
    assert rule == Rule(word_threshold=found, sentence_threshold=rule.sentence_threshold, origin=ORIGIN)
    assert 0.1 < rule.sentence_threshold < 0.3


@pytest.mark.parametrize("label", [True, False])
def test_nothing_is_learnt_from_sentences_of_one_kind(label: bool) -> None:
    assert rule_from_sentence_labels([scores(0.1, 0.9)] * 4, scores(0.1, 0.2, 0.8, 0.9), np.full(4, label)) == Rule()
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
    """No warning, no infinity, and some word is always found; extreme scores and labels that deny them included."""
    score = st.floats(0, 1, width=32) | st.sampled_from([0.0, 1e-38, 0.5, 1.0])
    words = [
        scores(*one) for one in data.draw(st.lists(st.lists(score, min_size=1, max_size=5), min_size=1, max_size=8))
    ]
    labels = np.array(data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words))))
    sentences = scores(*(data.draw(score) for _ in words))
    rule = rule_from_sentence_labels(words, sentences, labels)
    assert 0 <= rule.word_threshold <= 1
    assert 0 <= rule.sentence_threshold <= 1
    if rule.origin == ORIGIN:
        assert any(rule.words(one).any() for one in words)
        assert any(rule.sentence(float(one)) for one in sentences)


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
    rule = rule_from_sentence_labels(words, seen, labels)
    best = max(expected_f1(probabilities >= one, probabilities) for one in np.linspace(0.1, 0.9, 500))
    meant = expit((logit(rule.sentence_threshold) - shift) / stretch)
    assert meant == pytest.approx(best / 2, abs=0.03)
    assert best < 0.85, "else it would be 0.5, nearly"
