"""Precision, recall and F1 of the positive class, and the word threshold that maximises F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zerotag.errors import ZerotagError
from zerotag.evaluation.metrics.ragged import Floats, Ints, Scores, line_up, total_by_sentence
from zerotag.types import BoolArray


@dataclass(frozen=True, slots=True)
class PRF:
    """Precision, recall and F1 of the positive class, with how many were truly positive and how many predicted.

    Where nothing was predicted, or nothing is positive, the measure that divides by it is 0.
    """

    precision: float
    recall: float
    f1: float
    support: int
    predicted: int

    @property
    def f05(self) -> float:
        """F0.5, for which a false alarm weighs as much as two misses: what grammatical error detection reports."""
        return f05(self.precision, self.recall)

    @classmethod
    def from_counts(cls, true_positives: int, false_positives: int, false_negatives: int) -> PRF:
        """From the three cells of the confusion table that matter."""
        predicted = true_positives + false_positives
        support = true_positives + false_negatives
        return cls(
            precision=true_positives / max(predicted, 1),
            recall=true_positives / max(support, 1),
            f1=2 * true_positives / max(predicted + support, 1),
            support=support,
            predicted=predicted,
        )


def f05(precision: float, recall: float) -> float:
    """F0.5 of a precision and a recall."""
    return 1.25 * precision * recall / (0.25 * precision + recall) if precision or recall else 0.0


def precision_recall_f1(gold: BoolArray, predicted: BoolArray) -> PRF:
    """Over all given items at once (micro)."""
    return PRF.from_counts(*word_counts([gold], [predicted])[0].tolist())


def at_thresholds(golds: Sequence[BoolArray], scores: Sequence[Scores], thresholds: ArrayLike) -> list[PRF]:
    """Of words, micro, if those whose score reaches a threshold are positive; for each of the thresholds."""
    gold, score, _ = line_up(golds, scores)
    order = np.argsort(score, kind="stable")
    positives_below = np.concatenate([[0], np.cumsum(gold[order])])
    below = np.searchsorted(score[order], np.asarray(thresholds), side="left")
    missed, predicted = positives_below[below], len(score) - below
    found = positives_below[-1] - missed
    return [PRF.from_counts(*map(int, cells)) for cells in zip(found, predicted - found, missed, strict=True)]


def word_counts(golds: Sequence[BoolArray], predicted: Sequence[BoolArray]) -> Ints:
    """True positives, false positives and false negatives of each sentence: shape (sentences, 3)."""
    gold, guess, sentence = line_up(golds, predicted)
    cells = (gold & guess, ~gold & guess, gold & ~guess)
    totals = [total_by_sentence(cell, sentence, len(golds)) for cell in cells]
    return np.stack(totals, axis=1).astype(np.int64)


def f1_of_counts(counts: Ints | Floats) -> Floats:
    """F1 from (true positives, false positives, false negatives) in the last axis; 0 where all three are 0."""
    true_positives, false_positives, false_negatives = np.moveaxis(counts, -1, 0)
    f1: Floats = 2 * true_positives / np.maximum(2 * true_positives + false_positives + false_negatives, 1)
    return f1


def threshold_from_word_labels(golds: Sequence[BoolArray], scores: Sequence[Scores]) -> float:
    """The threshold with the best word F1 (micro, `score >= threshold`): needs word labels, so it is not zero-shot.

    Every distinct score is tried, which makes the search exact; of equally good thresholds the highest is taken.
    """
    found = best_threshold_and_f1(golds, scores)
    if found is None:
        raise ZerotagError("no word of the development set is positive: a word threshold cannot be tuned on it")
    return found[0]


def best_threshold_and_f1(golds: Sequence[BoolArray], scores: Sequence[Scores]) -> tuple[float, float] | None:
    """The highest of the thresholds that are best for these very words, and its F1. None without a positive word.

    No method can know it: every distinct score is tried as a threshold.
    """
    gold, score, _ = line_up(golds, scores)
    order = np.argsort(-score, kind="stable")
    gold, score = gold[order], score[order]
    last_of_ties = np.append(score[1:] != score[:-1], True)
    predicted = np.flatnonzero(last_of_ties) + 1
    true_positives = np.cumsum(gold)[last_of_ties]
    f1 = 2 * true_positives / (predicted + gold.sum())
    best = int(np.argmax(f1))
    return (float(score[last_of_ties][best]), float(f1[best])) if f1.any() else None
