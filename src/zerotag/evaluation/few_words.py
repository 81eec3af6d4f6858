"""Word thresholds from the labelled words of a few sentences, with what sentence labels say as the prior.

The scores of labelled words are few, and the threshold that is best for them alone is a gamble. So three estimates are
put together, each of which matters less the more sentences there are: the threshold from sentence labels; the curve
from scores to probabilities, moved as far as the labelled words ask for (maximum a posteriori); and the labelled words
themselves. How much each counts was chosen once, by simulation on halves of the development sets of several corpora.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from zerotag.calibration import Calibration, logit, sigmoid
from zerotag.types import BoolArray, FloatArray, Rule

Floats = NDArray[np.float64]

STRETCH_DEVIATION = 0.5  # how far the logarithm of the stretch strays from what sentence labels say
SHIFT_DEVIATION = 1.0  # how far the shift does
INDEPENDENT = 0.05  # as much as one word says beside others of its sentence, which share its topic and its annotator
CURVE_SENTENCES = 100  # as if the curve had been counted on so many sentences, beside the labelled words
THRESHOLD_SENTENCES = 10  # and the threshold from sentence labels had been found on so many


def sentence_weights(labels: BoolArray, base_rate: float) -> Floats:
    """How much each sentence counts, as if they had been drawn at the base rate."""
    share = float(labels.mean())
    if share in (0, 1):  # the scores of others are unknown
        return np.ones(len(labels))
    weights: Floats = np.where(labels, base_rate / share, (1 - base_rate) / (1 - share))
    return weights


class LabelledWords(NamedTuple):
    """The words of labelled sentences in a row, for one label; sentences count by their weight."""

    scores: FloatArray
    positive: Floats
    weights: Floats
    sentences: int

    @classmethod
    def of(
        cls, scores: Sequence[FloatArray], gold: Sequence[BoolArray], labels: BoolArray, base_rate: float
    ) -> LabelledWords:
        """Of sentences with and without the label, which count as if they had been drawn at the base rate."""
        weights = sentence_weights(labels, base_rate)
        return cls(
            np.concatenate(scores),
            np.concatenate(gold).astype(np.float64),
            np.repeat(weights, [len(one) for one in scores]),
            len(scores),
        )


def rule_from_few_words(words: LabelledWords, prior: Calibration, rule: Rule, origin: str) -> Rule:
    """The rule with the word threshold that is to be expected best after the prior, its rule and the labelled words."""
    curve = posterior(words, prior)
    share = words.sentences / (words.sentences + CURVE_SENTENCES)
    chances = share * words.positive + (1 - share) * curve.probabilities(words.scores)
    found = log_odds(curve, best_threshold(words.scores, words.weights * chances, words.weights))
    share = words.sentences / (words.sentences + THRESHOLD_SENTENCES)
    # Between the two thresholds as probabilities, since the curve may have moved.
    agreed = share * found + (1 - share) * log_odds(prior, rule.word_threshold)
    (threshold,) = sigmoid(np.array([(agreed - curve.shift) / curve.stretch])).tolist()
    return replace(rule, word_threshold=threshold, origin=origin)


def posterior(words: LabelledWords, prior: Calibration) -> Calibration:
    """The most likely curve after the labelled words, if the prior's is off by a normally distributed amount."""
    logits = logit(words.scores)
    expected = np.array([np.log(prior.stretch), prior.shift])
    deviations = np.array([STRETCH_DEVIATION, SHIFT_DEVIATION])

    def unlikelihood(parameters: Floats) -> float:
        its = np.exp(parameters[0]) * logits + parameters[1]
        of_words = INDEPENDENT * words.weights @ (np.logaddexp(0, its) - words.positive * its)
        return float(of_words + (((parameters - expected) / deviations) ** 2).sum() / 2)

    log_stretch, shift = minimize(unlikelihood, expected, method="Nelder-Mead").x
    return replace(prior, stretch=float(np.exp(log_stretch)), shift=float(shift))


def best_threshold(scores: FloatArray, positive: Floats, weights: Floats) -> float:
    """The threshold with the highest F1 for words that are positive to an extent: between two words' scores."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    f1 = 2 * np.cumsum(positive[order]) / (np.cumsum(weights[order]) + positive.sum())
    last_of_ties = np.append(ranked[1:] != ranked[:-1], True)
    best = int(np.where(last_of_ties, f1, -1.0).argmax())
    return float(ranked[best : best + 2].mean(dtype=np.float64))


def log_odds(calibration: Calibration, threshold: float) -> float:
    """How likely a word at a threshold is, as log-odds."""
    return float(calibration.stretch * logit(np.array([threshold]))[0] + calibration.shift)
