"""`zerotag report`: the words that carry a label, as a table, JSON, a page and a figure."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import toy
from commands import CommandLine
from zerotag.labeller import load

GOLD = toy.gold(30, seed=1)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{one.sentence.text}\n" for one in GOLD), encoding="utf-8")
    return path


def test_the_table_counts_what_the_model_marks(zerotag: CommandLine, model: Path, texts: Path) -> None:
    shown = zerotag.succeeds("report", model, texts)
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line.rstrip().endswith("%")}
    words = [word for one in GOLD for word in one.sentence.words]
    assert set(rows) == set(toy.CUES["hedge"]) & set(words)
    for cue, (marked, of, _, share, _) in rows.items():
        assert int(marked) == int(of) == words.count(cue)
        assert float(share) == pytest.approx(100 * words.count(cue) / 30, abs=0.05)
    assert f"hedge: {len([1 for one in GOLD if one.labels[0]])} of 30 sentences have it" in shown
    assert "[may]" in shown


def test_json_and_what_is_known_of_calibration(zerotag: CommandLine, model: Path, texts: Path, tmp_path: Path) -> None:
    zerotag.succeeds("report", model, texts, "--out", tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text())
    assert found["sentences"] == 30
    assert found["measures"] is None
    assert found["reliability"]["measured_on"] == "development set"
    bins = [list(one) for one in load(model).manifest.reliability["hedge"]]
    assert [[one["score"], one["positive"], one["size"]] for one in found["reliability"]["labels"]["hedge"]] == bins


def test_labels_of_the_file_measure_the_model(
    zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path
) -> None:
    zerotag.succeeds("report", model, gold_file, "--labelled", "--out", tmp_path / "a.json")
    zerotag.succeeds("evaluate", model, gold_file, "--json", tmp_path / "b.json")
    found, measured = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert found["measures"]["labels"] == measured["labels"]
    assert found["reliability"]["measured_on"] == "gold.tsv"
    assert sum(one["size"] for one in found["reliability"]["labels"]["hedge"]) == 30
    assert "hedge: words" in zerotag.succeeds("report", model, gold_file, "--labelled")


def test_the_page_and_the_figure(zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path) -> None:
    zerotag.succeeds("report", model, gold_file, "--labelled", "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert '<h1 dir="auto">hedges on gold.tsv</h1>' in page
    assert "learnt from sentence labels." in page
    zerotag.succeeds("report", model, gold_file, "--out", tmp_path / "figure.svg")
    ET.parse(tmp_path / "figure.svg")


def test_top_and_threshold(zerotag: CommandLine, model: Path, texts: Path) -> None:
    shown = zerotag.succeeds("report", model, texts, "--top", 1, "--threshold", 0)
    assert sum(line.rstrip().endswith("%") for line in shown.splitlines()) == 1
    assert "more words" in shown
    assert "Word threshold 0.00 (given)" in shown


def test_mistakes(zerotag: CommandLine, model: Path, texts: Path, tmp_path: Path) -> None:
    assert zerotag.fails("report", model, texts, "--out", tmp_path / "x.pdf").endswith("choose another name")
    line = zerotag.fails("report", model, texts, "--out", texts, "--overwrite")
    assert line.startswith(f"{texts} is an input, which --out would replace")
    (tmp_path / "empty.txt").write_text("")
    assert zerotag.fails("report", model, tmp_path / "empty.txt").startswith(f"{tmp_path / 'empty.txt'}: no sentences")
