"""Where and with what a run was made, so that its numbers can be believed and had again."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import torch

from zerotag.inference.torch_predictor import best_device
from zerotag.io.model_folder import versions

_PACKAGE = Path(__file__).parents[2]


def provenance(side_by_side: int) -> dict[str, object]:
    """Versions, device, date and commit; `side_by_side` is the number of runs that shared the device."""
    return {
        "versions": versions(),
        "device": _device(),
        "side_by_side": side_by_side,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit_of(_PACKAGE),
    }


def _device() -> str:
    if best_device().type == "cuda":
        return torch.cuda.get_device_name()
    return f"CPU ({platform.machine()}, {torch.get_num_threads()} threads)"


def commit_of(folder: Path) -> str | None:
    """The commit that a folder of sources is at, with a mark if they were changed since; None outside a repository.

    Results that are written beside them, in the same repository, change nothing.
    """
    commit = _git(folder, "rev-parse", "--verify", "--short=12", "HEAD")
    return f"{commit}-dirty" if commit and _git(folder, "status", "--porcelain", ".") else commit


def _git(folder: Path, *command: str) -> str | None:
    try:
        asked = subprocess.run(["git", *command], cwd=folder, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.strip() or None
