"""How many threads torch computes with on processors: sums are split among them, which decides their last digits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def computing_with(threads: int) -> Iterator[None]:
    """A context in which torch has so many."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
