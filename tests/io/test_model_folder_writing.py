"""Model folders are written whole or not at all, and leave alone what is not theirs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import tiny
from zerotag.errors import ZerotagError
from zerotag.io.model_folder import check_place, delete_folder, whole_file, whole_folder
from zerotag.labeller import load

rename = Path.rename


def rename_but_not_the_new(path: Path, target: Path) -> Path:
    if path.name == "new":
        raise OSError(5, "Input/output error")
    return rename(path, target)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A saved model."""
    tiny.labeller().save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "deep" / "folder") as new:
        (new / "file").write_text("content")
        assert not (tmp_path / "deep" / "folder").exists()
    assert (tmp_path / "deep" / "folder" / "file").read_text() == "content"
    assert names(tmp_path / "deep") == ["folder"]


def test_a_failure_leaves_the_old_folder_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for broken in ("transformers.PreTrainedConfig.save_pretrained", "zerotag.io.model_folder.model_card"):
        with monkeypatch.context() as patch:
            patch.setattr(broken, full)
            with pytest.raises(ZerotagError, match=rf"^cannot write {folder}: No space left on device$"):
                tiny.labeller(labels=("other",)).save_pretrained(folder)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        assert names(folder.parent) == ["model"]


def test_a_failure_of_the_last_rename_puts_the_old_folder_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "rename", rename_but_not_the_new)
    with pytest.raises(ZerotagError, match="Input/output error"):
        tiny.labeller(labels=("other",)).save_pretrained(folder)
    monkeypatch.undo()
    assert load(folder).label_names == ("hedge",)
    assert names(folder.parent) == ["model"]


@pytest.mark.parametrize("until", ["notes.md", "new"])
def test_an_interruption_puts_the_old_folder_back_with_all_that_was_in_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, until: str
) -> None:
    def interrupted(path: Path, target: Path) -> Path:
        if path.name == until and path.parent.name.startswith(".model-" if until == "new" else "old"):
            raise KeyboardInterrupt
        return rename(path, target)

    add_notes(folder)
    before = names(folder)
    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tiny.labeller(labels=("other",)).save_pretrained(folder)
    monkeypatch.undo()
    assert load(folder).label_names == ("hedge",)
    assert (names(folder), names(folder.parent)) == (before, ["model"])


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


def test_what_should_stay_also_does_if_the_new_model_cannot_be_moved(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_notes(folder)
    before = names(folder)
    monkeypatch.setattr(Path, "rename", rename_but_not_the_new)
    with pytest.raises(ZerotagError, match="Input/output error"):
        tiny.labeller().save_pretrained(folder)
    monkeypatch.undo()
    assert names(folder) == before
    assert load(folder).label_names == ("hedge",)


def test_all_files_may_be_read_by_the_same_people(folder: Path) -> None:
    assert len({path.stat().st_mode for path in folder.iterdir()}) == 1


def test_a_folder_vanishes_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while it deletes, nothing in the folder's place is half there."""
    folder = tmp_path / "done"
    (folder / "part").mkdir(parents=True)
    remove = os.rmdir
    still_there: list[bool] = []

    def watch(*arguments: Any, **options: Any) -> None:
        still_there.append(folder.exists())
        remove(*arguments, **options)

    monkeypatch.setattr(os, "rmdir", watch)
    delete_folder(folder)
    assert still_there == [False] * 3  # the part, the folder, and where it was moved to
    assert list(tmp_path.iterdir()) == []


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


def test_a_file_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    with whole_file(path) as file:
        file.write("line\r\nünïcode\n")
        assert not path.exists()
    assert path.read_bytes() == "line\r\nünïcode\n".encode()
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write(f"half{1 // 0}")
    assert path.read_bytes() == "line\r\nünïcode\n".encode()
    assert names(path.parent) == ["file"]


def test_a_file_does_not_replace_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ZerotagError, match="exists and is not a file"), whole_file(tmp_path):
        pass
