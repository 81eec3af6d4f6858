"""Do scores mean what they say? Reliability of sentence scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

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
