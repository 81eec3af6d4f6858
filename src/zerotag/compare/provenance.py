"""Where and with what a run was made, so that its numbers can be believed and had again."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import torch

from zerotag.inference import best_device
from zerotag.storage import versions


def provenance(side_by_side: int) -> dict[str, object]:
    """Versions, device, date and commit; `side_by_side` is the number of runs that shared the device."""
    return {
        "versions": versions(),
        "device": _device(),
        "side_by_side": side_by_side,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
    }


def _device() -> str:
    if best_device().type == "cuda":
        return torch.cuda.get_device_name()
    return f"CPU ({platform.machine()}, {torch.get_num_threads()} threads)"


def _commit() -> str | None:
    """The commit that the package's source is at, with a mark if it was changed; None outside a repository."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        asked = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.strip() or None
