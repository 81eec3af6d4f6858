"""`zerotag suggest`: what to label next, in a form that can be corrected and read again."""

from __future__ import annotations

import json
from pathlib import Path

import toy
from commands import CommandLine
from zerotag.io import read_corrected
from zerotag.labeller import load


def test_a_file_to_correct_with_reasons(zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "todo.jsonl"
    said = zerotag("suggest", model, gold_file, "--n", 8, "--out", out)
    assert said.code == 0
    assert f"zerotag tune {model} {out}" in said.err
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(records) == 8
    texts = {one.sentence.text for one in toy.gold(30, seed=1)}
    assert all(record["text"] in texts and record["reason"] for record in records)
    labeller = load(model)
    assert [record["label"] for record in records] == [
        one.label for one in labeller.label([r["text"] for r in records])
    ]
    corpus = read_corrected(out, label_names=labeller.label_names)
    assert len(corpus) == 8
    zerotag.succeeds("tune", model, out, "--out", tmp_path / "tuned")


def test_other_formats_can_be_corrected_too(zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "todo.tsv"
    zerotag.succeeds("suggest", model, gold_file, "--n", 4, "--out", out)
    assert len(read_corrected(out, label_names=("hedge",))) == 4


def test_what_is_refused(zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path) -> None:
    assert "is an input" in zerotag.fails("suggest", model, gold_file, "--out", gold_file, "--overwrite")
    for name in ("todo.parquet", "todo.html", "todo.jsonl.gz"):
        assert "people correct text" in zerotag.fails("suggest", model, gold_file, "--out", tmp_path / name)
    marked = tmp_path / "todo.txt"
    assert "people correct text" in zerotag.fails("suggest", model, gold_file, "--out", marked, "--format", "text")
    assert "n is 0" in zerotag.fails("suggest", model, gold_file, "--out", tmp_path / "x.jsonl", "--n", 0)
    assert sorted(tmp_path.iterdir()) == [gold_file]
