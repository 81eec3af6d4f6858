"""Does the model itself rely on the words a method points at? ERASER's comprehensiveness and sufficiency.

Both compare the probability of the class predicted for the whole sentence with the probability of that same class
once the sentence is cut down. The arrays hold one row per sentence; with one column per size of rationale, the result
is ERASER's area over the perturbation curve (AOPC): the mean over sentences and sizes, as its scoring code takes it.
"""

from __future__ import annotations

import numpy as np

from zerotag.evaluation.metrics.ragged import Scores
from zerotag.types import BoolArray

AOPC_PERCENTAGES = (1, 5, 10, 20, 50)
"""The sizes of rationale, in percent of the words, that ERASER averages over."""


def comprehensiveness(full: Scores, without_rationale: Scores) -> float:
    """How far the probability falls when the rationale is taken away: high if nothing of weight was left behind."""
    return _mean_fall(full, without_rationale)


def sufficiency(full: Scores, only_rationale: Scores) -> float:
    """How far the probability falls when only the rationale is kept: low, even negative, if it is enough."""
    return _mean_fall(full, only_rationale)


def top_words(scores: Scores, percentage: int) -> BoolArray:
    """The highest-scoring words, at least `percentage` of them and at least one; the earlier word wins a tie."""
    count = -(-len(scores) * percentage // 100)
    chosen = np.zeros(len(scores), dtype=np.bool_)
    chosen[np.argsort(-scores, kind="stable")[:count]] = True
    return chosen


def _mean_fall(full: Scores, reduced: Scores) -> float:
    if full.ndim != 1 or len(full) == 0 or len(reduced) != len(full):
        raise ValueError("one probability per sentence is needed, for the same sentences before and after")
    return float(np.mean(full[:, np.newaxis] - reduced.reshape(len(full), -1)))
