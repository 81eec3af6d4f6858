"""Word scores as probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerotag.types import FloatArray, ReliabilityBin


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the word scores of one label become probabilities: sigmoid(stretch * logit(score) + shift).

    It comes from sentence labels alone, and is what is believed before any word label is seen.
    """

    stretch: float = 1.0
    shift: float = 0.0
    positive: float = 0.5
    """Share of the sentences that have the label."""

    threshold: float | None = None
    """From which on words count as positive. None, as those below, where nothing is known of it."""

    lowest: float | None = None
    """The word thresholds that sentence labels agree with go from here, with nine chances in ten, ..."""

    highest: float | None = None
    """... to here."""

    fewest: float | None = None
    """The share of the words of the sentences calibrated on that the highest of them marks."""

    most: float | None = None
    """The share that the lowest marks."""

    @property
    def is_a_guess(self) -> bool:
        """Whether sentence labels leave open by a factor of two how many words are to be marked."""
        return self.fewest is not None and self.most is not None and self.most > 2 * self.fewest

    def probabilities(self, scores: FloatArray) -> NDArray[np.float64]:
        """How likely words with these scores are to carry the label."""
        return sigmoid(self.stretch * logit(scores) + self.shift)


def logit(scores: FloatArray) -> NDArray[np.float64]:
    """Log-odds of scores; those of 0 and 1 stay finite."""
    clipped = np.clip(scores.astype(np.float64), 1e-6, 1 - 1e-6)
    odds: NDArray[np.float64] = np.log(clipped / (1 - clipped))
    return odds


def sigmoid(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of log-odds, without overflow."""
    probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(logits, -50, 50)))
    return probabilities


def calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Expected calibration error: how far the scores are from the share of positives, averaged over what has them."""
    total = sum(one.size for one in bins)
    return sum(one.size * abs(one.score - one.positive) for one in bins) / max(total, 1)
