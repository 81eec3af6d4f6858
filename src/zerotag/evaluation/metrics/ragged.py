"""Sentences differ in length: many short arrays as one long one, so that no measure loops over sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from zerotag.types import BoolArray

Scores = NDArray[np.floating]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Values = TypeVar("Values", bound=np.bool_ | np.floating)


def line_up(golds: Sequence[BoolArray], others: Sequence[NDArray[Values]]) -> tuple[BoolArray, NDArray[Values], Ints]:
    """All gold labels, all values beside them, and the number of the sentence each word is in."""
    lengths = [len(gold) for gold in golds]
    if lengths != [len(other) for other in others]:
        raise ValueError("gold labels and predictions must have the same sentences and words")
    if not lengths:
        raise ValueError("there must be at least one sentence to measure")
    beside = np.concatenate(others)
    if not np.isfinite(beside).all():
        raise ValueError("every word score must be finite")
    return np.concatenate(golds).astype(np.bool_), beside, np.repeat(np.arange(len(lengths)), lengths)


def total_by_sentence(values: BoolArray | Ints | Floats, sentence: Ints, sentences: int) -> Floats:
    """Sum of the values in each sentence; 0 for one without any."""
    totals: Floats = np.bincount(sentence, weights=values, minlength=sentences).astype(np.float64)
    return totals
