"""Where and with what a run was made, so that its numbers can be believed and had again."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import torch

from zerotag.inference.devices import best_device
from zerotag.io.model_folder import versions
from zerotag.training.code_version import code_version

_PACKAGE = Path(__file__).parents[2]
_ARCHIVED = Path(__file__).with_name("archived_commit.txt")
"""`git archive` writes the commit into this file, so that sources that travel without a repository know theirs."""


def provenance(side_by_side: int, began: dict[str, str | None]) -> dict[str, object]:
    """Versions, device, date, commit and code at the end; `began` has these three as they were at the beginning.

    `side_by_side` is the number of runs that shared the device.
    """
    return {
        "versions": versions(),
        "device": _device(),
        "side_by_side": side_by_side,
        **moment(),
        "began": began,
    }


def moment() -> dict[str, str | None]:
    """The date, the commit, and a digest of the code that trains."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit_of(_PACKAGE, _ARCHIVED),
        "code": code_version(),
    }


def _device() -> str:
    if best_device().type == "cuda":
        return torch.cuda.get_device_name()
    return f"CPU ({platform.machine()}, {torch.get_num_threads()} threads)"


def commit_of(folder: Path, archived: Path) -> str | None:
    """The commit that a folder of sources is at, with a mark if they were changed since; None if nothing tells.

    Results that are written beside them, in the same repository, change nothing. Outside a repository, the file
    `archived` tells.
    """
    commit = _git(folder, "rev-parse", "--verify", "--short=12", "HEAD")
    if commit is None:
        noted = archived.read_text(encoding="ascii").strip() if archived.exists() else ""
        return None if not noted or noted.startswith("$") else noted[:12]
    return f"{commit}-dirty" if _git(folder, "status", "--porcelain", ".") else commit


def _git(folder: Path, *command: str) -> str | None:
    try:
        asked = subprocess.run(["git", *command], cwd=folder, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.strip() or None
