"""Which sentences go through the network together: little padding, and an order that follows from a seed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

ALIKE = 0.9
"""A sentence much shorter than the longest of its group, by less than this share of it, is better off in the next."""

ENOUGH = 0.25
"""Share of the budget from which on a group is large enough to be closed for that."""


def by_token_budget(costs: Sequence[tuple[int, int]], budget: int) -> list[list[int]]:
    """Indices of sentences in groups of like length that stay within `budget` padded sub-words.

    A cost is (windows, sub-words per window). A sentence counts as much as the longest of its group, to which it is
    padded; one over the budget makes a group of its own.
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(costs)), key=lambda i: costs[i], reverse=True):
        windows, longest = costs[groups[-1][0]] if groups else (0, 0)
        size = len(groups[-1]) * windows * longest if groups else 0
        full = size + windows * longest > budget
        shorter = math.prod(costs[index]) < ALIKE * windows * longest
        if not groups or full or (shorter and size >= ENOUGH * budget):
            groups.append([])
        groups[-1].append(index)
    return groups


def shuffled(lengths: Sequence[int], batch_size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Batches of one epoch: random, but with sentences of like length together, so that little is padded."""
    random = np.random.default_rng((seed, epoch))
    order = random.permutation(len(lengths))
    pool = 32 * batch_size
    batches = []
    for start in range(0, len(order), pool):
        chunk = sorted(order[start : start + pool].tolist(), key=lambda i: lengths[i])
        batches += [chunk[i : i + batch_size] for i in range(0, len(chunk), batch_size)]
    return [batches[i] for i in random.permutation(len(batches))]
