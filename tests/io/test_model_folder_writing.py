"""Model folders are written whole or not at all, and leave alone what is not theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny
from crashes import crashes, make
from zerotag.errors import ZerotagError
from zerotag.io.files import Disk
from zerotag.io.model_folder import check_place
from zerotag.labeller import load


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A saved model."""
    tiny.labeller().save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_a_failure_leaves_the_old_folder_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for broken in ("zerotag.modeling.model_loading.write_shape", "zerotag.render.model_card.model_card"):
        with monkeypatch.context() as patch:
            patch.setattr(broken, full)
            with pytest.raises(ZerotagError, match=rf"^cannot write {folder}: No space left on device$"):
                tiny.labeller(labels=("other",)).save_pretrained(folder)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        assert names(folder.parent) == ["model"]


def test_a_tokenizer_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise Exception("No space left on device (os error 28)")  # as the tokenizers library does

    monkeypatch.setattr("transformers.PreTrainedTokenizerBase.save_pretrained", full)
    with pytest.raises(ZerotagError, match=rf"^cannot write {folder}: No space left on device \(os error 28\)$"):
        tiny.labeller().save_pretrained(folder)


def test_a_model_replaces_a_model_and_an_empty_folder(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for place in (folder, empty):
        tiny.labeller(labels=("other",)).save_pretrained(place)
        assert load(place).label_names == ("other",)


def add_notes(folder: Path) -> None:
    (folder / "notes.md").write_text("ours")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("main")


@pytest.mark.parametrize("damaged", [False, True])
def test_what_a_model_did_not_bring_along_stays_in_its_folder(folder: Path, damaged: bool) -> None:
    add_notes(folder)
    (folder / "old").write_text("a file of the old model")
    manifest = json.loads((folder / "zerotag.json").read_text())
    manifest["sha256"]["old"] = "0"
    (folder / "zerotag.json").write_text("{" if damaged else json.dumps(manifest))
    tiny.labeller(labels=("other",)).save_pretrained(folder)
    assert load(folder).label_names == ("other",)
    assert (folder / "notes.md").read_text() == "ours"
    assert (folder / ".git" / "HEAD").read_text() == "main"
    assert (folder / "old").exists() == damaged  # then nobody can tell whose it is


@pytest.mark.parametrize("can_exchange", [True, False])
def test_in_every_state_that_a_crash_can_leave_the_old_or_the_new_model_loads(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(Disk, "exchange", lambda *_: False)
    add_notes(folder)
    other = tiny.labeller(labels=("other",))
    with crashes(folder.parent) as found:
        other.save_pretrained(folder)
    loaded = set()
    for state in found.states:
        crashed = make(state, tmp_path_factory.getbasetemp() / "crashed") / "model"
        loaded.add(load(crashed).label_names)
        assert (crashed / "notes.md").read_text() == "ours"
        assert (crashed / ".git" / "HEAD").read_text() == "main"
    assert loaded == {("hedge",), ("other",)}
    other.save_pretrained(crashed)
    assert names(crashed.parent) == ["model"]


def test_all_files_may_be_read_by_the_same_people(folder: Path) -> None:
    assert len({path.stat().st_mode for path in folder.iterdir()}) == 1


def test_a_place_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ZerotagError, match=rf"^{tmp_path / 'file'} is a file: choose another folder$"):
        check_place(tmp_path / "file" / "model")


def test_anything_else_is_not_replaced(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    for place in (mine, mine / "thesis.tex"):
        with pytest.raises(ZerotagError, match=rf"^{place} exists and is not a zerotag model: choose another folder$"):
            tiny.labeller().save_pretrained(place)
    assert names(mine) == ["thesis.tex"]


@pytest.mark.parametrize("place", [".", "..", "/", "models/.."])
def test_a_place_without_a_name(place: str) -> None:
    with pytest.raises(ZerotagError, match="is no name for a new folder"):
        check_place(Path(place))
