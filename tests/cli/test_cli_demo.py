"""`zerotag demo`, with a quick model instead of the one it trains."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from commands import CommandLine
from zerotag.demo import PARTS
from zerotag.labeller import load
from zerotag.types import Rule


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    labeller = tiny.labeller().with_rules([Rule(0.0, 0.0)])
    monkeypatch.setattr("zerotag.demo.train", lambda **_: labeller)


def test_it_shows_sentences_and_scores_and_writes_a_model_and_a_report(zerotag: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "shown"
    said = zerotag.succeeds("demo", "--out", out)
    lines = said.splitlines()
    for part in PARTS.values():
        following = lines[lines.index(part) + 2 :][:8]
        assert all("hedge  [" in line for line in following), following
    assert said.count("hedge: words") == 2
    assert f"Model:  {out}/model" in lines
    assert f"Report: {out}/report.html" in lines
    assert load(out / "model").label_names == ("hedge",)
    assert (out / "report.html").read_text().lower().startswith("<!doctype html>")


def test_it_can_be_repeated_but_replaces_nothing_else(zerotag: CommandLine, tmp_path: Path) -> None:
    zerotag.succeeds("demo", "--out", tmp_path)
    zerotag.succeeds("demo", "--out", tmp_path)
    (tmp_path / "mine" / "model").mkdir(parents=True)
    (tmp_path / "mine" / "model" / "thesis.tex").write_text("years of work")
    line = zerotag.fails("demo", "--out", tmp_path / "mine")
    assert line == f"{tmp_path}/mine/model exists and is not a zerotag model: choose another folder"


def test_help_and_version(zerotag: CommandLine) -> None:
    help_text = zerotag.succeeds()
    for verb in ("train", "label", "evaluate", "demo", "data"):
        assert f"\n  {verb} " in help_text
        assert f"zerotag {verb} [OPTIONS]" in zerotag.succeeds(verb, "--help")
    assert "..." not in help_text.replace("[ARGS]...", "")  # no description is cut short
    assert zerotag.succeeds("--version").startswith("zerotag ")


def test_it_shows_what_corrected_words_are_worth(zerotag: CommandLine, tmp_path: Path) -> None:
    said = zerotag.succeeds("demo", "--improve", "--out", tmp_path)
    assert "Improving: 20 new sentences that a person should look at" in said
    rows = [line.split() for line in said.splitlines()]
    (before,), (updated,) = ([row for row in rows if row[:1] == [name]] for name in ("before", "network"))
    assert float(updated[-1]) > float(before[-1])  # an untrained network has much to learn
    assert "after word labels of 20 sentences: not zero-shot" in said
    assert load(tmp_path / "improved").manifest.word_labels == {"network": 20}
    assert load(tmp_path / "model").manifest.word_labels == {}
