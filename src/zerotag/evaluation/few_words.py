"""Word thresholds from the labelled words of a few sentences, with what sentence labels say as the prior.

The scores of labelled words are few, and the threshold that is best for them alone is a gamble. So three estimates are
put together, each of which matters less the more sentences there are: the threshold from sentence labels; the curve
from scores to probabilities, moved as far as the labelled words ask for (maximum a posteriori); and the labelled words
themselves. How much each counts was chosen once, by simulation on halves of the development sets of several corpora.
Where the gain of a move might as well be chance, most of the move is not made: few sentences should not do harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from zerotag.calibration import Calibration, logit, sigmoid
from zerotag.types import BoolArray, FloatArray

Floats = NDArray[np.float64]

STRETCH_DEVIATION = 0.5  # how far the logarithm of the stretch strays from what sentence labels say
SHIFT_DEVIATION = 1.0  # how far the shift does
INDEPENDENT = 0.05  # as much as one word says beside others of its sentence, which share its topic and its annotator
CURVE_SENTENCES = 100  # as if the curve had been counted on so many sentences, beside the labelled words
THRESHOLD_SENTENCES = 10  # and the threshold from sentence labels had been found on so many
DOUBT = 0.5  # standard errors of the gain in F1 below which a move is not believed at all
RESAMPLES = 200  # of the bootstrap that tells the standard error


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
    lengths: NDArray[np.int64]
    """How many words each sentence has."""

    @property
    def sentences(self) -> int:
        """How many there are."""
        return len(self.lengths)

    @property
    def sentence(self) -> NDArray[np.int64]:
        """The sentence of each word."""
        return np.repeat(np.arange(self.sentences), self.lengths)

    @classmethod
    def of(
        cls, scores: Sequence[FloatArray], gold: Sequence[BoolArray], labels: BoolArray, base_rate: float
    ) -> LabelledWords:
        """Of sentences with and without the label, which count as if they had been drawn at the base rate."""
        lengths = np.array([len(one) for one in scores], np.int64)
        return cls(
            np.concatenate(scores),
            np.concatenate(gold).astype(np.float64),
            np.repeat(sentence_weights(labels, base_rate), lengths),
            lengths,
        )


def threshold_from_few_words(words: LabelledWords, prior: Calibration, before: float) -> float:
    """The word threshold that is to be expected best after the prior, the threshold before and the labelled words.

    `before` is in log-odds, as `log_odds` tells them of a score: the scores themselves may have changed since.
    """
    curve = posterior(words, prior)
    share = words.sentences / (words.sentences + CURVE_SENTENCES)
    chances = share * words.positive + (1 - share) * curve.probabilities(words.scores)
    found = log_odds(curve, best_threshold(words.scores, words.weights * chances, words.weights))
    gained = gain(words, _threshold_at(prior, before), _threshold_at(curve, found))
    share = gained.share_believed * words.sentences / (words.sentences + THRESHOLD_SENTENCES)
    # Between the two thresholds as probabilities, since the curve may have moved.
    return _threshold_at(curve, share * found + (1 - share) * before)


class Gain(NamedTuple):
    """What another threshold gains in F1 on labelled words, and the standard error of that."""

    mean: float
    error: float

    @property
    def share_believed(self) -> float:
        """How far to move for it, from 0 to 1: James and Stein's shrinkage, which does not go below 0."""
        return max(0.0, 1 - (DOUBT * self.error / self.mean) ** 2) if self.mean > 0 else 0.0


def gain(words: LabelledWords, old: float, new: float) -> Gain:
    """The gain of a new threshold over an old one, by the bootstrap over sentences."""
    count = words.sentences
    if not count:
        return Gain(0.0, 0.0)
    often = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), RESAMPLES)
    gains = _f1_of_resamples(words, new, often) - _f1_of_resamples(words, old, often)
    return Gain(float(gains.mean()), float(gains.std()))


def _f1_of_resamples(words: LabelledWords, threshold: float, often: NDArray[np.int64]) -> Floats:
    """F1 of each resample; `often` says how often each sentence is in it, (resamples, sentences)."""
    decided = words.weights * (words.scores >= threshold)
    right, found, there = (
        often @ np.bincount(words.sentence, one, words.sentences)
        for one in (decided * words.positive, decided, words.weights * words.positive)
    )
    f1: Floats = 2 * right / np.maximum(found + there, 1e-9)
    return f1


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


def sentence_losses(logits: Floats, words: LabelledWords) -> Floats:
    """The cross-entropy of each sentence's words, added up."""
    of_words: Floats = words.weights * (np.logaddexp(0, logits) - words.positive * logits)
    return np.bincount(words.sentence, of_words, words.sentences).astype(np.float64)


def first_of_the_best(losses: Floats) -> int:
    """The first candidate, of the most cautious first, that is as good as the best: the one-standard-error rule.

    Args:
        losses: of held-out sentences, (candidates, sentences). A candidate is as good where its mean is above that of
            the best by a standard error of their difference at most.
    """
    worse = losses - losses[losses.mean(axis=1).argmin()]
    errors = worse.std(axis=1) / np.sqrt(losses.shape[1])
    return int(np.flatnonzero(worse.mean(axis=1) <= errors)[0])


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


def _threshold_at(calibration: Calibration, log_odds_of_word: float) -> float:
    """The score at which a word is so likely."""
    (threshold,) = sigmoid(np.array([(log_odds_of_word - calibration.shift) / calibration.stretch])).tolist()
    return float(threshold)
