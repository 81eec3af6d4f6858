"""`zerotag train --words` and `--from`: labelled words beside sentence labels."""

from __future__ import annotations

from pathlib import Path

import pytest

import toy
from commands import CommandLine
from zerotag.labeller import load


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return toy.write_tsv(tmp_path / "few.tsv", toy.gold(16, seed=3))


def test_a_model_goes_on_from_another(zerotag: CommandLine, model: Path, few: Path, tmp_path: Path) -> None:
    out = tmp_path / "updated"
    said = zerotag.succeeds("train", "--from", model, "--words", few, "--out", out)
    assert "learnt from sentence labels, with word labels of 16 sentences (network), going on from" in said
    assert load(out).manifest.word_labels == {"network": 16}
    assert "exists" in zerotag.fails("train", "--from", model, "--words", few, "--out", out)
    measured = zerotag.succeeds("evaluate", out, few)
    assert "not zero-shot: the model learnt from sentence labels, with word labels of 16 sentences" in measured


def test_several_files_of_sentences_and_of_words(
    zerotag: CommandLine, encoder: Path, few: Path, tmp_path: Path
) -> None:
    parts = [toy.write_tsv(tmp_path / f"part{i}.tsv", toy.gold(20, seed=i)) for i in (1, 2)]
    more = toy.write_tsv(tmp_path / "more.tsv", toy.gold(8, seed=4))
    out = tmp_path / "out"
    settings = ("--encoder", encoder, "--epochs", 1, "--teacher-epochs", 1)
    zerotag.succeeds("train", *parts, "--words", few, "--words", more, *settings, "--out", out)
    manifest = load(out).manifest
    assert manifest.word_labels == {"network": 24}
    assert manifest.sentences["train"] + manifest.sentences["dev"] == 40


def test_what_is_missing_is_said(zerotag: CommandLine, model: Path, few: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "no training sentences" in zerotag.fails("train", "--out", out)
    assert "name a file that has some with --words" in zerotag.fails("train", few, "--from", model, "--out", out)
    assert not out.exists()
