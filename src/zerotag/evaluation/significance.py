"""Is one system better than another, or was it luck? Paired tests over runs and over sentences; mean and deviation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from zerotag.evaluation.metrics.classification import f1_of_counts
from zerotag.evaluation.metrics.ragged import Floats, Ints

ROUNDS = 10_000
SWAPS_AT_ONCE = 4_000_000  # bounds memory: 32 MB of coin tosses
_ROUNDING = 1e-12  # swaps which give the observed difference again must count whatever the order of summation


@dataclass(frozen=True, slots=True)
class Summary:
    """A measure over `n` runs; `std` is the sample standard deviation, None for a single run."""

    mean: float
    std: float | None
    n: int


def mean_and_deviation(values: Sequence[float]) -> Summary:
    """Mean and sample standard deviation of a measure over runs."""
    if len(values) == 0:
        raise ValueError("there must be at least one value to summarise")
    std = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Summary(float(np.mean(values)), std, len(values))


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Two-tailed p-value over paired runs, for example seeds; None for fewer than two pairs, which show no spread.

    Where all differences are equal, p is 1 if they are zero and 0 otherwise.
    """
    from scipy.special import stdtr  # a t distribution without the slow import of scipy.stats

    difference = mean_and_deviation([a - b for a, b in zip(first, second, strict=True)])
    if difference.std is None:
        return None
    if difference.std == 0:
        return float(difference.mean == 0)
    t = difference.mean / (difference.std / math.sqrt(difference.n))
    return float(2 * stdtr(difference.n - 1, -abs(t)))


def randomisation_test_f1(first: Ints, second: Ints, *, rounds: int = ROUNDS, seed: int = 0) -> float:
    """Two-tailed p-value for the word F1 of two systems, from the `word_counts` of each on the same sentences.

    Approximate randomisation: were the systems alike, swapping their answers to any sentence would change nothing;
    p is how often random swaps give a difference as large as the one observed, (r + 1) / (rounds + 1).

    Counts are (sentences, 3), or (sentences, runs, 3) of several runs: what is compared then is the mean of their F1,
    and what is swapped a sentence with its answers in all runs.
    """

    def mean_f1(totals: Floats) -> Floats:
        f1: Floats = f1_of_counts(totals.reshape(*totals.shape[:-1], -1, 3)).mean(axis=-1)
        return f1

    return _randomisation_test(_in_rows(first), _in_rows(second), mean_f1, rounds, seed)


def randomisation_test_map(first: Floats, second: Floats, *, rounds: int = ROUNDS, seed: int = 0) -> float:
    """The same for MAP, from the `average_precisions` of each; sentences without a positive word are left out."""
    defined = ~np.isnan(first)
    if not np.array_equal(defined, ~np.isnan(second)):
        raise ValueError("the two systems must be measured on the same sentences")

    def mean(totals: Floats) -> Floats:
        return totals[..., 0] / int(np.count_nonzero(defined))

    return _randomisation_test(first[defined, np.newaxis], second[defined, np.newaxis], mean, rounds, seed)


def _in_rows(counts: Ints) -> Floats:
    return counts.reshape(len(counts), math.prod(counts.shape[1:])).astype(np.float64)


def _randomisation_test(
    first: Floats, second: Floats, measure: Callable[[Floats], Floats], rounds: int, seed: int
) -> float:
    """`first` and `second` have a row per sentence; `measure` turns their column totals into one number."""
    if first.shape != second.shape or not len(first):
        raise ValueError("the two systems must be measured on the same sentences, at least one")
    first_total, second_total = first.sum(axis=0), second.sum(axis=0)
    observed = abs(measure(first_total) - measure(second_total))
    change = second - first
    change = change[change.any(axis=1)]  # swapping equal answers changes nothing

    random = np.random.default_rng(seed)
    rounds_at_once = max(1, SWAPS_AT_ONCE // max(len(change), 1))
    as_large = 0
    for done in range(0, rounds, rounds_at_once):
        shape = (min(rounds_at_once, rounds - done), len(change))
        swapped = random.integers(0, 2, shape, dtype=np.int8).astype(np.float64) @ change
        difference = np.abs(measure(first_total + swapped) - measure(second_total - swapped))
        as_large += int(np.count_nonzero(difference >= observed - _ROUNDING))
    return (as_large + 1) / (rounds + 1)
