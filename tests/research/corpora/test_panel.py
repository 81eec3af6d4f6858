"""Corpora that come as labelled files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from zerotag.errors import ZerotagError
from zerotag.research.compare.corpora import read_splits
from zerotag.research.compare.experiment_file import read_experiment
from zerotag.research.corpora import panel
from zerotag.research.corpora.panel import read_parts

CORPUS = """
title = "Panel"
corpora = ["{}"]
seeds = [1]
reference = "Random baseline"
methods = [{{ name = "Random baseline", scorer = "random" }}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus of two labels that exclude one another, known by its digests."""
    row = '{"words": ["so", "%s"], "label": "%s", "word_labels": ["O", "%s"]}\n'
    (tmp_path / "made-up").mkdir()
    digests = {}
    for part, words in (("train", ("good", "bad", "ill")), ("dev", ("fine", "bad")), ("test", ("fine",))):
        labels = ["pos" if word in ("good", "fine") else "neg" for word in words]
        content = "".join(row % (word, label, label) for word, label in zip(words, labels, strict=True)).encode()
        (tmp_path / "made-up" / f"{part}.jsonl").write_bytes(content)
        digests[f"{part}.jsonl"] = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(panel, "PANEL", {"made-up": digests})
    return tmp_path / "made-up"


def test_parts(folder: Path) -> None:
    train, dev, test = read_parts("made-up", folder)
    assert [len(part) for part in (train, dev, test)] == [3, 2, 1]
    assert train.label_names == dev.label_names == test.label_names == ("neg", "pos")
    assert [example.labels for example in train.examples] == [(False, True), (True, False), (True, False)]
    assert test.examples[0].word_labels == ((False, False), (False, True))


def test_other_files_are_refused(folder: Path) -> None:
    with (folder / "dev.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(ZerotagError, match=r"dev.jsonl: not the file that results are of .* another name"):
        read_parts("made-up", folder)
    (folder / "dev.jsonl").unlink()
    with pytest.raises(ZerotagError, match=r"dev.jsonl: No such file or directory; made-up needs train.jsonl, dev"):
        read_parts("made-up", folder)


@pytest.mark.skipif("ZEROTAG_DATA" not in os.environ, reason="ZEROTAG_DATA names no folder with the panel's corpora")
@pytest.mark.parametrize(
    ("name", "labels", "sizes"),
    [("toxic", ("T",), (24065, 2069, 5674)), ("sst", ("neg", "pos"), (6920, 872, 1821))],
)
def test_the_panel(tmp_path: Path, name: str, labels: tuple[str, ...], sizes: tuple[int, ...]) -> None:
    (tmp_path / "panel.toml").write_text(CORPUS.format(name), encoding="utf-8")
    splits = read_splits(read_experiment(tmp_path / "panel.toml"), name, Path(os.environ["ZEROTAG_DATA"]))
    assert splits.train.label_names == splits.test.label_names == labels
    assert (len(splits.train), len(splits.dev), len(splits.test)) == sizes
    assert not hasattr(splits.train.examples[0], "word_labels")
