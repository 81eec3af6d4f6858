"""Devices that torch computes on; torch itself is loaded only to see what this machine has."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from zerotag.errors import ZerotagError

if TYPE_CHECKING:
    import torch

KINDS = ("cpu", "cuda", "mps")


def best_device() -> torch.device:
    """A GPU if there is one."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def usable_device(device: str | torch.device) -> torch.device:
    """The device, if there is one of that name."""
    import torch

    available = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    available += [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    available += ["mps"] if torch.backends.mps.is_available() else []
    if str(device) not in available:
        raise ZerotagError(f"device {str(device)!r} cannot be used here; there are: {', '.join(available)}")
    return torch.device(device)


def precision(device: torch.device) -> AbstractContextManager[object]:
    """Bfloat16 on a GPU, full precision elsewhere."""
    import torch

    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()


def token_budget(kind: str) -> int:
    """Padded sub-words per batch: enough to keep a device of a kind busy, little enough to stay in its caches."""
    return 32_768 if kind == "cuda" else 2_048
