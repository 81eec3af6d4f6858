"""What the benchmarks measured, as `results/NAME.json`: rows of peer and ours with machine, versions and date."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from zerotag.io.files import whole_file
from zerotag.io.model_folder import versions

RESULTS = Path(__file__).parent / "results"


def command_line(what: str | None) -> argparse.ArgumentParser:
    """The options of all benchmarks that have few others."""
    parser = argparse.ArgumentParser(description=(what or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="in miniature: does it run?")
    parser.add_argument("--out", type=Path, help="folder for the results")
    return parser


def write_results(
    name: str, rows: Sequence[Mapping[str, object]], *, machine: str = "", folder: Path | None = None
) -> Path:
    """Write rows of what, peer, ours, ratio and target; the machine is this one unless it is given."""
    content = {
        "name": name,
        "rows": list(rows),
        "machine": machine or this_machine(),
        "versions": versions(),
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(),
    }
    folder = folder or RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    with whole_file(path) as file:
        file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return path


def commit() -> str:
    """The commit that was measured, with a + if files differ from it; empty outside a repository."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def this_machine() -> str:
    """Its processor, and its GPU if torch finds one."""
    import torch

    gpu = f"{torch.cuda.get_device_name()}, " if torch.cuda.is_available() else ""
    return f"{gpu}{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"


def row(what: str, peer: float | None, ours: float, target: str | None = None, **more: object) -> dict[str, object]:
    """A row whose ratio is ours by the peer's, printed on the way."""
    ratio = None if peer is None else ours / peer
    shown = "" if ratio is None else f"{ratio:8.2f}×"
    print(f"{what:70} {'' if peer is None else f'{peer:,.1f}':>12} {ours:12,.1f} {shown}  {target or ''}", flush=True)
    return {
        "what": what,
        "peer": None if peer is None else _rounded(peer),
        "ours": _rounded(ours),
        "ratio": None if ratio is None else _rounded(ratio),
        "target": target,
        **more,
    }


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")
