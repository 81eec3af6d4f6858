"""Thresholds from sentence labels: no word label is needed to say how likely a word is to be positive.

A sentence has the label if one of its words does. So the scores are stretched and shifted into probabilities such that
the chance of at least one positive word fits the labels of the development sentences best; the threshold is the one
with the highest F1 to be expected if the words were drawn from these probabilities. The threshold for sentences is
found in the same way.

Two things are left open by sentence labels. Few of them fit many curves; and one positive word explains a label as well
as three that keep company. So beside the threshold there is an interval, from curves that would do as well, from words
that are independent of one another to sentences of which only the strongest word counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from zerotag.calibration import Calibration, logit, sigmoid
from zerotag.types import BoolArray, FloatArray, Rule

Floats = NDArray[np.float64]

ORIGIN = "sentence labels of the development set"

EVIDENCE_EXPONENT = 1.2
"""Of the norm by which the evidence of a sentence's words adds up (1: they are independent; infinity: only the
strongest counts). Positive words are not independent: who makes one mistake makes others. How much they depend on one
another, sentence labels cannot tell; this fits the development sets of several corpora."""

EVIDENCE_EXPONENTS = (1.0, 1.25, 1.67, 2.5, 5.0, np.inf)
"""Among which the truth is, for the interval: their reciprocals are evenly spaced. Likelihoods do not weigh them, since
they were found to favour wrong ones."""

DRAWS = 32  # of curves, for each of these
STEP = 0.05  # of the parameters, for second derivatives
INTERVAL = (0.05, 0.95)  # the quantiles of the posterior that are told
MOST_MARKED = 0.5  # of all words: what more of them have is nothing that single words tell


class Curve(NamedTuple):
    """From scores to probabilities: sigmoid(stretch * logit(score) + shift)."""

    log_stretch: float
    shift: float

    def of(self, logits: Floats) -> Floats:
        """The probabilities of words with these scores, as log-odds."""
        return sigmoid(np.exp(self.log_stretch) * logits + self.shift)


class Posterior(NamedTuple):
    """What sentence labels say of the curve, if the evidence of words adds up in one way."""

    mode: Curve
    draws: tuple[Curve, ...]


def rule_from_sentence_labels(calibration: Calibration, sentence_scores: FloatArray, labels: BoolArray) -> Rule:
    """The rule for one label, from the calibration of its words, and from scores and labels of sentences."""
    if calibration.threshold is None:
        return Rule()  # nothing to learn from
    return Rule(
        word_threshold=calibration.threshold,
        sentence_threshold=sentence_threshold(sentence_scores, labels),
        origin=ORIGIN,
    )


def sentence_threshold(scores: FloatArray, labels: BoolArray) -> float:
    """From which on sentences count as positive: they are as sentences with one word, which says it all."""
    if labels.all() or not labels.any():
        return Rule().sentence_threshold
    logits = logit(scores)
    mode = posterior(logits, np.arange(len(labels)), labels, EVIDENCE_EXPONENT).mode
    return best_expected_f1(scores, mode.of(logits))


def calibration_from_sentence_labels(word_scores: Sequence[FloatArray], labels: BoolArray) -> Calibration:
    """What makes decisions of one label's word scores, (words,) each, after the labels of their sentences."""
    positive = float(labels.mean())
    if labels.all() or not labels.any():
        return Calibration(positive=positive)
    scores, starts = np.concatenate(word_scores), starts_of(word_scores)
    logits = logit(scores)
    mode = posterior(logits, starts, labels, EVIDENCE_EXPONENT).mode
    threshold = word_threshold(scores, mode.of(logits))
    posteriors = [posterior(logits, starts, labels, exponent) for exponent in EVIDENCE_EXPONENTS]
    drawn = [word_threshold(scores, draw.of(logits)) for one in posteriors for draw in one.draws]
    lowest, highest = np.quantile(drawn, INTERVAL).tolist()
    lowest, highest = min(lowest, threshold), max(highest, threshold)
    return Calibration(
        stretch=float(np.exp(mode.log_stretch)),
        shift=mode.shift,
        positive=positive,
        threshold=threshold,
        lowest=lowest,
        highest=highest,
        fewest=float((scores >= highest).mean()),
        most=float((scores >= lowest).mean()),
    )


def starts_of(sentences: Sequence[Sized]) -> NDArray[np.int64]:
    """Where each sentence begins, if its words stand in a row with all others."""
    return np.cumsum([0, *map(len, sentences)])[:-1]


def word_threshold(scores: FloatArray, probabilities: Floats) -> float:
    """As `best_expected_f1`, but with no more than half of the words positive; none, if so many are alike."""
    ranked = -np.sort(-scores)
    most = max(1, int(MOST_MARKED * len(ranked)))
    best = best_expected_f1(scores, probabilities)
    if np.searchsorted(-ranked, -best, side="right") <= most:
        return best
    falls = np.flatnonzero(ranked[:most] > ranked[1 : most + 1]) if most < len(ranked) else np.array([most - 1])
    if not len(falls):
        return float(ranked[0] + 1) / 2
    return float(ranked[falls[-1] : falls[-1] + 2].mean(dtype=np.float64))


def best_expected_f1(scores: FloatArray, probabilities: Floats) -> float:
    """The score from which on words should count as positive, given how likely each is: between two words' scores."""
    order = np.argsort(-scores, kind="stable")
    chosen = np.arange(1, len(order) + 1)
    expected = 2 * np.cumsum(probabilities[order]) / (chosen + probabilities.sum())
    last = int(expected.argmax())
    return float(scores[order[last : last + 2]].mean(dtype=np.float64))


def posterior(logits: Floats, starts: NDArray[np.int64], labels: BoolArray, exponent: float) -> Posterior:
    """Of the curve, after the labels of sentences whose words begin at `starts`: normal around its mode (Laplace)."""

    def unlikelihood(parameters: Floats) -> float:
        log_stretch, shift = parameters
        evidence = np.logaddexp(0, np.exp(log_stretch) * logits + shift)  # -log P(the word is negative)
        negative = np.minimum(-added_up(evidence, starts, exponent), -1e-7)  # log P(the sentence is negative)
        likelihood = np.where(labels, np.log(-np.expm1(negative)), negative).sum()
        # Few sentences, or sentences that the scores tell apart without error, fit many curves: the scores, which
        # are meant to be probabilities, are then changed as little as can be.
        return float(log_stretch**2 / 2 + shift**2 / 2 - likelihood)

    fit = minimize(unlikelihood, [0.0, 0.0], method="Nelder-Mead")
    precisions, axes = np.linalg.eigh(second_derivatives(unlikelihood, fit.x))
    precisions = np.maximum(precisions, 1.0)  # those of the prior
    noise = np.random.default_rng(0).standard_normal((DRAWS, 2))
    draws = fit.x + (noise / np.sqrt(precisions)) @ axes.T
    return Posterior(Curve(*fit.x.tolist()), tuple(Curve(*one) for one in draws.tolist()))


def added_up(evidence: Floats, starts: NDArray[np.int64], exponent: float) -> Floats:
    """The evidence of each sentence: the norm of that of its words."""
    highest = np.maximum.reduceat(evidence, starts)
    if np.isinf(exponent):
        return highest
    relative = evidence / np.repeat(np.maximum(highest, 1e-300), np.diff(np.append(starts, len(evidence))))
    total: Floats = highest * np.add.reduceat(relative**exponent, starts) ** (1 / exponent)
    return total


def second_derivatives(function: Callable[[Floats], float], place: Floats) -> Floats:
    """Of a function of several numbers, by central differences: (n, n)."""
    steps = STEP * np.eye(len(place))

    def slope(one: Floats, other: Floats) -> float:
        ends = ((+1, one + other), (-1, one - other), (-1, other - one), (+1, -one - other))
        return sum(sign * function(place + step) for sign, step in ends) / (4 * STEP**2)

    return np.array([[slope(one, other) for other in steps] for one in steps])
