"""Trainings that can be repeated: everything random from a seed, by deterministic algorithms."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def reproducible(seed: int, device: torch.device) -> Iterator[None]:
    """Draw everything random from the seed, by deterministic algorithms, and leave the caller's state alone."""
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    memory: Any = torch.utils.deterministic
    filling = memory.fill_uninitialized_memory
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS may vary
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        memory.fill_uninitialized_memory = False  # finds errors, but costs a fifth of the time
        try:
            yield
        finally:
            memory.fill_uninitialized_memory = filling
            torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
