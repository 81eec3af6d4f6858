"""Which sentences go through the network together: little padding, and an order that follows from a seed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

ALIKE = 0.9
"""A sentence much shorter than the longest of its group, by less than this share of it, is better off in the next."""

ENOUGH = 0.25
"""Share of the budget from which on a group is large enough to be closed for that."""

BATCHES_SORTED = 32
"""Sentences of so many batches are put in the order of their lengths, and parted again."""


def by_token_budget(costs: Sequence[tuple[int, int]], budget: int) -> list[list[int]]:
    """Indices of sentences in groups of like length that stay within `budget` padded sub-words.

    A cost is (windows, sub-words per window). A sentence counts as much as the longest of its group, to which it is
    padded; one over the budget makes a group of its own.
    """
    if not costs:
        return []
    windows, lengths = np.array(costs, np.int64).T
    order = np.lexsort((-lengths, -windows))  # those with more windows are longer
    sizes = (windows * lengths)[order]
    groups, start = [], 0
    while start < len(order):
        longest = int(sizes[start])
        full = start + max(1, budget // longest)
        enough = start + math.ceil(ENOUGH * budget / longest)
        shorter = int(np.searchsorted(-sizes, -ALIKE * longest, side="right"))
        end = min(full, max(enough, shorter))
        groups.append(order[start:end].tolist())
        start = end
    return groups


def within_budget(costs: Sequence[tuple[int, int]], budget: int) -> list[list[int]]:
    """All sentences in one group, in their order, if that stays within the budget; else as `by_token_budget` has it."""
    together = len(costs) * max(windows * length for windows, length in costs) <= budget
    return [list(range(len(costs)))] if together else by_token_budget(costs, budget)


def shuffled(
    lengths: Sequence[int], batch_size: int, *, seed: int, epoch: int, by_length: bool = True
) -> list[list[int]]:
    """Batches of one epoch: random, but with sentences of like length together if asked, so that little is padded."""
    random = np.random.default_rng((seed, epoch))
    order = random.permutation(len(lengths))
    pool = BATCHES_SORTED * batch_size if by_length else batch_size
    batches = []
    for start in range(0, len(order), pool):
        chunk = sorted(order[start : start + pool].tolist(), key=lambda i: lengths[i])
        batches += [chunk[i : i + batch_size] for i in range(0, len(chunk), batch_size)]
    return [batches[i] for i in random.permutation(len(batches))]
