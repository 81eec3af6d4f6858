"""What the benchmarks measured, as `results/NAME.json`: rows of peer and ours with machine, versions and date."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from zerotag.storage import versions

RESULTS = Path(__file__).parent / "results"


def write_results(name: str, rows: Sequence[Mapping[str, object]], *, machine: str = "") -> Path:
    """Write rows of what, peer, ours, ratio and target; the machine is this one unless it is given."""
    here = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    content = {
        "name": name,
        "rows": list(rows),
        "machine": machine or here,
        "versions": versions(),
        "date": datetime.now(UTC).date().isoformat(),
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
