"""Thresholds from sentence labels: no word label is needed to say how likely a word is to be positive.

A sentence has the label if one of its words does. So the scores are stretched and shifted into probabilities such that
the chance of at least one positive word fits the labels of the development sentences best; the threshold is the one
with the highest F1 to be expected if the words were drawn from these probabilities. The threshold for sentences is
found in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from zerotag.calibration import Calibration, logit
from zerotag.types import BoolArray, FloatArray, Rule

ORIGIN = "sentence labels of the development set"

# Positive words keep company: who makes one mistake makes others. So the evidence of a sentence's words adds up to less
# than it would if they were independent (1: independent; infinity: only the strongest word counts).
COMPANY = 1.2


def rule_from_sentence_labels(
    word_scores: Sequence[FloatArray], sentence_scores: FloatArray, labels: BoolArray
) -> Rule:
    """The rule for one label, from the scores of sentences, those of their words, (words,) each, and their labels."""
    if labels.all() or not labels.any():
        return Rule()  # nothing to learn from
    return Rule(
        word_threshold=threshold(word_scores, labels),
        # As a sentence with one word, which says it all.
        sentence_threshold=threshold(list(sentence_scores[:, np.newaxis]), labels),
        origin=ORIGIN,
    )


def calibration_from_sentence_labels(word_scores: Sequence[FloatArray], labels: BoolArray) -> Calibration:
    """What makes probabilities of one label's word scores, (words,) each, after the labels of their sentences."""
    if labels.all() or not labels.any():
        return Calibration(positive=float(labels.mean()))
    starts = np.cumsum([0, *map(len, word_scores)])[:-1]
    stretch, shift = _fit(logit(np.concatenate(word_scores)), starts, labels)
    return Calibration(stretch, shift, float(labels.mean()))


def threshold(word_scores: Sequence[FloatArray], labels: BoolArray) -> float:
    """For words, by the labels of their sentences."""
    scores = np.concatenate(word_scores)
    return best_expected_f1(scores, calibration_from_sentence_labels(word_scores, labels).probabilities(scores))


def best_expected_f1(scores: FloatArray, probabilities: NDArray[np.float64]) -> float:
    """The score from which on words should count as positive, given how likely each is: between two words' scores."""
    order = np.argsort(-scores, kind="stable")
    chosen = np.arange(1, len(order) + 1)
    expected = 2 * np.cumsum(probabilities[order]) / (chosen + probabilities.sum())
    last = int(expected.argmax())
    return float(scores[order[last : last + 2]].mean(dtype=np.float64))


def _fit(logits: NDArray[np.float64], starts: NDArray[np.int64], labels: BoolArray) -> tuple[float, float]:
    def unlikelihood(parameters: NDArray[np.float64]) -> float:
        log_stretch, shift = parameters
        evidence = np.logaddexp(0, np.exp(log_stretch) * logits + shift)  # -log P(the word is negative)
        total = np.add.reduceat(evidence**COMPANY, starts) ** (1 / COMPANY)
        negative = np.minimum(-total, -1e-7)  # log P(the sentence is negative)
        likelihood = np.where(labels, np.log(-np.expm1(negative)), negative).sum()
        # Few sentences, or sentences that the scores tell apart without error, fit many curves: the scores, which
        # are meant to be probabilities, are then changed as little as can be.
        return float(log_stretch**2 / 2 + shift**2 / 2 - likelihood)

    fit = minimize(unlikelihood, [0.0, 0.0], method="Nelder-Mead")
    return float(np.exp(fit.x[0])), float(fit.x[1])
