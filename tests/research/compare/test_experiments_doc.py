"""What docs/experiments.md tells people to write works as it stands there, and nothing is missing from it."""

from __future__ import annotations

import re
import shutil
from dataclasses import fields
from pathlib import Path

import pytest

import tiny
import toy
from zerotag.explain import SCORERS
from zerotag.presets import PRESETS
from zerotag.research.compare.comparison import compare
from zerotag.research.compare.experiment import ExampleSentence, Experiment, Method, Training

ROOT = Path(__file__).parents[3]
DOC = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")


def test_the_example_runs(tmp_path: Path) -> None:
    (toml,) = re.findall(r"^```toml\n(.*?)^```", DOC, flags=re.DOTALL | re.MULTILINE)
    (tmp_path / "own.toml").write_text(toml.replace("all-MiniLM-L6-v2", "smoke-encoder"), encoding="utf-8")
    shutil.copytree(ROOT / "experiments" / "smoke-corpus", tmp_path / "reports")
    shutil.copytree(ROOT / "experiments" / "smoke-encoder", tmp_path / "smoke-encoder")
    comparison = compare(tmp_path / "own.toml", only="*.1")
    assert (comparison.failed, comparison.left) == ({}, ())
    assert len(comparison.done) == 4
    for name in ("summary.json", "significance.json", "tables.md", "tables.tex", "runs/reports.zerotag.1.json"):
        assert (tmp_path / "own" / name).exists()
    assert "Occlusion †" in (tmp_path / "own" / "tables.md").read_text(encoding="utf-8")


def test_the_python_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", DOC, flags=re.DOTALL | re.MULTILINE)
    tiny.labeller().save_pretrained(tmp_path / "model")
    toy.write_tsv(tmp_path / "gold.tsv", toy.gold(10))
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    *_, last = capsys.readouterr().out.splitlines()
    word_f1, mean_average_precision, passes = map(float, last.split())
    assert 0 <= word_f1 <= 1
    assert 0 < mean_average_precision <= 1
    assert passes > 10


def test_every_experiment_is_listed() -> None:
    listed = re.findall(r"^\| `([\w-]+\.toml)` \|", DOC, flags=re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in (ROOT / "experiments").glob("*.toml"))


def test_every_key_is_explained() -> None:
    made_elsewhere = {"path", "trainings", "methods", "examples", "learns_word_labels", "gold"}
    made_elsewhere |= {"corpus_sha256", "vectors_sha256"}
    keys = {field.name for kind in (Experiment, Training, Method, ExampleSentence) for field in fields(kind)}
    explained = set(re.findall(r"`([\w-]+)`", DOC))
    assert keys - made_elsewhere - explained == set()
    assert {*SCORERS.names(), *PRESETS} - explained == set()
