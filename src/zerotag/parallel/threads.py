"""How many threads torch computes with on processors: sums are split among them, which decides their last digits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


def threads_of_torch() -> int:
    """How many it has; torch itself is not loaded where the environment says that it has one."""
    if os.environ.get("OMP_NUM_THREADS") == "1" and "MKL_NUM_THREADS" not in os.environ:
        return 1  # a larger number it would cut down to the cores there are
    import torch

    return torch.get_num_threads()


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
