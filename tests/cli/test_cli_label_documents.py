"""`--split-sentences`: documents go in, sentences come out and say where they were."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from commands import CommandLine
from zerotag.labeller import load

DOCUMENTS = ["the pump may leak. It rains \U0001f600 may! ok", "", "the report\nsays so"]
SENTENCES = ["the pump may leak.", "It rains \U0001f600 may!", "ok", "the report", "says so"]
STARTS = [0, 19, 35, 0, 11]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["id", "text"], *enumerate(DOCUMENTS)])
    return path


def test_records_of_sentences(zerotag: CommandLine, model: Path, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    zerotag.succeeds("label", model, table, "--split-sentences", "--records", "--out", out)
    records: list[dict[str, Any]] = list(map(json.loads, out.read_text(encoding="utf-8").splitlines()))
    assert [*records[0]][:5] == ["source", "line", "start", "end", "text"]
    assert [one["text"] for one in records] == SENTENCES
    assert [one["start"] for one in records] == STARTS
    assert [one["end"] - one["start"] for one in records] == list(map(len, SENTENCES))
    assert [one["line"] for one in records] == [2, 2, 2, 4, 4]
    alone = load(model).label(SENTENCES)
    assert [[w["text"] for w in one["words"]] for one in records] == [[w.text for w in one.words] for one in alone]
    assert [one["score"] for one in records] == pytest.approx([one.score for one in alone], abs=2e-6)
    parquet = tmp_path / "out.parquet"
    zerotag.succeeds("label", model, table, "--split-sentences", "--out", parquet, "--records")
    rows = pq.read_table(parquet).to_pylist()
    keys = ("source", "line", "start", "end", "text", "label")
    assert [[row[key] for key in keys] for row in rows] == [[one[key] for key in keys] for one in records]


def test_a_row_for_each_sentence(zerotag: CommandLine, model: Path, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    zerotag.succeeds("label", model, table, "--split-sentences", "--out", out)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    added = ("zerotag_row", "zerotag_sentence", "zerotag_start", "zerotag_end")
    assert tuple(rows[0])[2:6] == added
    assert [(row["id"], row["text"]) for row in rows] == [
        (str(number), DOCUMENTS[number]) for number in (0, 0, 0, 1, 2, 2)
    ]
    assert [row["zerotag_row"] for row in rows] == ["1", "1", "1", "2", "3", "3"]
    assert [row["zerotag_sentence"] for row in rows] == [*SENTENCES[:3], "", *SENTENCES[3:]]
    for row in rows:
        if row["zerotag_sentence"]:
            assert row["text"][int(row["zerotag_start"]) : int(row["zerotag_end"])] == row["zerotag_sentence"]
            for span in json.loads(row["zerotag_spans"] or "[]"):
                assert row["zerotag_sentence"][span["start"] : span["end"]] == span["text"]
    workbook = tmp_path / "out.xlsx"
    zerotag.succeeds("label", model, table, "--split-sentences", "--out", workbook)
    reported = zerotag("report", model, table, "--split-sentences")
    assert "of 5 sentences have it" in reported.out
    assert reported.err.startswith(f"1 record left out; the first: {table}:")
    zerotag.succeeds("suggest", model, table, "--split-sentences", "--n", "9", "--out", tmp_path / "suggested.jsonl")
    suggested = (tmp_path / "suggested.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(json.loads(line)["text"] for line in suggested) == sorted(SENTENCES)


def test_workers_and_one_process_write_the_same(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    document = tmp_path / "in.txt"
    document.write_text("the pump may leak. It rains. Perhaps not.\n" * 30, encoding="utf-8")
    out = tmp_path / "out.jsonl"
    zerotag.succeeds("label", model, document, "--split-sentences", "--no-source", "--out", out)
    records = list(map(json.loads, out.read_text(encoding="utf-8").splitlines()))
    assert [one["start"] for one in records] == [0, 19, 29] * 30
    printed = zerotag.succeeds("label", model, "--split-sentences", "--format", "jsonl", stdin=document.read_text())
    assert [json.loads(line)["start"] for line in printed.splitlines()] == [0, 19, 29] * 30
    shards = tmp_path / "shards"
    zerotag.succeeds("label", model, document, "--split-sentences", "--shards", "2", "--out", shards)
    zerotag.succeeds("label", "--plan", shards / "plan.json")
    written = "".join(path.read_text(encoding="utf-8") for path in sorted(shards.glob("labels/*.jsonl")))
    assert [json.loads(line)["start"] for line in written.splitlines()] == [0, 19, 29] * 30
