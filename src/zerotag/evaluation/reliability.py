"""Do scores mean what they say? Reliability of sentence scores, and what each threshold would mark."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerotag.types import ReliabilityBin

BINS = 10


def reliability(scores: ArrayLike, gold: ArrayLike, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """Scores from 0 to 1 in bins of the same width, beside what is true of them; empty bins are left out."""
    values, truth = np.asarray(scores, np.float64), np.asarray(gold, np.bool_)
    number = np.minimum((values * bins).astype(np.int64), bins - 1)
    return tuple(
        ReliabilityBin(float(values[within].mean()), float(truth[within].mean()), int(within.sum()))
        for within in (number == one for one in range(bins))
        if within.any()
    )


def shares_reaching(scores: ArrayLike, thresholds: ArrayLike) -> NDArray[np.float64]:
    """The share of the scores that reach each threshold."""
    ascending = np.sort(np.asarray(scores, np.float64))
    below = np.searchsorted(ascending, np.asarray(thresholds, np.float64), side="left")
    return 1 - below / max(len(ascending), 1)
