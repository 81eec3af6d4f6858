"""Devices that torch computes on, found without loading what a network needs."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch

from zerotag.errors import ZerotagError


def best_device() -> torch.device:
    """A GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def usable_device(device: str | torch.device) -> torch.device:
    """The device, if there is one of that name."""
    available = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    available += [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    available += ["mps"] if torch.backends.mps.is_available() else []
    if str(device) not in available:
        raise ZerotagError(f"device {str(device)!r} cannot be used here; there are: {', '.join(available)}")
    return torch.device(device)


def precision(device: torch.device) -> AbstractContextManager[object]:
    """Bfloat16 on a GPU, full precision elsewhere."""
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()


def token_budget(device: torch.device) -> int:
    """Padded sub-words per batch: enough to keep the device busy, little enough to stay in its caches."""
    return 32_768 if device.type == "cuda" else 2_048
