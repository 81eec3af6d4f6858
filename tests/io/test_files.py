"""Files and folders are written whole or not at all, and whatever a crash leaves, the old or the new one is there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from crashes import crashes, make
from zerotag.errors import ZerotagError
from zerotag.io.files import Disk, delete_folder, make_folders, recover, whole_file, whole_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(folder: Path, content: str, stays: tuple[str, ...] = ()) -> None:
    with whole_folder(folder, stays) as new:
        (new / "inner").mkdir()
        for name in ("a", "inner/b"):
            (new / name).write_text(content)


def content_of(folder: Path) -> set[str]:
    """What is in its two files; one word, if it is whole."""
    return {(folder / name).read_text() for name in ("a", "inner/b")}


@pytest.fixture(params=[True, False], ids=["exchange", "two renames"])
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a system that lets two folders change places."""
    if not request.param:
        monkeypatch.setattr(Disk, "exchange", lambda *_: False)


def test_two_folders_change_places(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / folder.name).touch()
    if not Disk().exchange(one, other):
        pytest.skip("this file system cannot exchange folders")
    assert (names(one), names(other)) == (["other"], ["one"])
    with pytest.raises(FileNotFoundError):
        Disk().exchange(one, tmp_path / "none")


@pytest.mark.usefixtures("_both_ways")
def test_a_folder_appears_whole_and_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "folder"
    for content in ("first", "second"):
        with whole_folder(folder) as new:
            (new / "file").write_text(content)
            assert content == "second" or not folder.exists()
        assert (folder / "file").read_text() == content
        assert names(folder.parent) == ["folder"]


def test_what_a_link_points_to_is_replaced(tmp_path: Path) -> None:
    write(tmp_path / "real", "old")
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert content_of(tmp_path / "real") == {"new"}


@pytest.mark.usefixtures("_both_ways")
def test_every_state_that_a_crash_can_leave_of_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    write(root / "folder", "old")
    (root / "folder" / "notes").write_text("mine")
    (root / "folder" / ".git").mkdir()
    (root / "folder" / ".git" / "HEAD").write_text("main")
    with crashes(root) as found:
        write(root / "folder", "new", ("notes", ".git"))
    assert content_of(root / "folder") == {"new"}
    assert names(root) == ["folder"]
    assert len(found.states) > 15
    left: set[str] = set()
    for state in found.states:
        folder = make(state, tmp_path / "crashed") / "folder"
        recover(folder)
        (content,) = content_of(folder)
        left.add(content)
        assert (folder / "notes").read_text() == "mine", state
        assert (folder / ".git" / "HEAD").read_text() == "main"
        write(folder, "next", ("notes", ".git"))
        assert content_of(folder) == {"next"}
        assert names(folder.parent) == ["folder"]
        assert names(folder) == [".git", "a", "inner", "notes"]
    assert left == {"old", "new"}


def test_a_new_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with crashes(root) as found:
        write(root / "deep" / "folder", "new")
    left = set()
    for state in found.states:
        folder = make(state, tmp_path / "crashed") / "deep" / "folder"
        left.add(folder.exists())
        assert not folder.exists() or content_of(folder) == {"new"}
    assert left == {False, True}


def test_a_rename_without_a_sync_is_found_out(tmp_path: Path) -> None:
    """A test of the test: then the file can be empty, or zeros."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "file").write_text("old")
    with crashes(root) as found:
        (root / "new").write_text("new")
        Disk().rename(root / "new", root / "file")
    left = {(make(state, tmp_path / "crashed") / "file").read_text() for state in found.states}
    assert left == {"old", "new", "", "\0\0\0"}


def test_every_state_that_a_crash_can_leave_of_a_file(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "file").write_text("old")
    with crashes(root) as found, whole_file(root / "file") as file:
        file.write("new")
    left = set()
    for state in found.states:
        path = make(state, tmp_path / "crashed") / "file"
        left.add(path.read_text())
        with whole_file(path) as file:
            file.write("next")
        assert (path.read_text(), names(path.parent)) == ("next", ["file"])
    assert left == {"old", "new"}
    assert found.operations == ["sync .file.new", "rename .file.new file", "sync root"]


def test_what_is_returned_to_the_caller_is_on_the_disk(tmp_path: Path) -> None:
    """A power cut after the end leaves the new one alone."""
    root = tmp_path / "root"
    root.mkdir()
    write(root / "folder", "old")
    (root / "file").write_text("old")
    with crashes(root) as found:
        write(root / "folder", "new")
        with whole_file(root / "file") as file:
            file.write("new")
    assert found.last
    for state in found.last:
        crashed = make(state, tmp_path / "crashed")
        assert content_of(crashed / "folder") == {(crashed / "file").read_text()} == {"new"}


def test_a_folder_vanishes_whole(tmp_path: Path) -> None:
    """Killed while it deletes, nothing in the folder's place is half there."""
    root = tmp_path / "root"
    root.mkdir()
    write(root / "done", "all")
    with crashes(root) as found:
        delete_folder(root / "done")
    assert names(root) == []
    left = set()
    for state in found.states:
        folder = make(state, tmp_path / "crashed") / "done"
        left.add(folder.exists())
        assert not folder.exists() or content_of(folder) == {"all"}
    assert left == {True, False}


def test_what_was_deleted_does_not_come_back(tmp_path: Path) -> None:
    write(tmp_path / "done", "all")
    (tmp_path / "done").rename(tmp_path / ".done.deleted")  # and then a kill
    recover(tmp_path / "done")
    assert not (tmp_path / "done").exists()
    write(tmp_path / "done", "new")
    assert names(tmp_path) == ["done"]


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("operation", ["sync", "rename", "exchange"])
def test_an_error_or_ctrl_c_leaves_one_of_the_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, operation: str
) -> None:
    """At each operation in turn."""
    folder = tmp_path / "folder"
    write(folder, "old")
    real = getattr(Disk, operation)
    last = False
    for at in range(10):
        calls = 0

        def fail(disk: Disk, *paths: Path, at: int = at) -> object:
            nonlocal calls
            calls += 1
            if calls == at + 1:
                raise error
            return real(disk, *paths)

        with monkeypatch.context() as patch:
            patch.setattr(Disk, operation, fail)
            with suppress(ZerotagError, KeyboardInterrupt):
                write(folder, "new")
                last = calls <= at
        assert content_of(folder) in ({"old"}, {"new"})
        assert names(tmp_path) == ["folder"]
        if last:
            return
        write(folder, "old")
    pytest.fail("more operations than expected")


def test_a_failure_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "folder") as new:
        (new / "file").write_text(f"half{1 // 0}")
    assert names(tmp_path) == []


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


def test_two_do_not_write_the_same_at_once(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "folder"), pytest.raises(ZerotagError, match=r"folder: another run is writing it"):
        write(tmp_path / "folder", "other")
    refused = pytest.raises(ZerotagError, match=r"file: another run is writing it")
    with whole_file(tmp_path / "file"), refused, whole_file(tmp_path / "file"):
        pytest.fail("both write")
    assert names(tmp_path) == ["file", "folder"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "deep"):
        with pytest.raises(NotADirectoryError):
            make_folders(place)


def test_pipes_among_what_stays_are_not_waited_for(tmp_path: Path) -> None:
    write(tmp_path / "folder", "old")
    os.mkfifo(tmp_path / "folder" / "pipe")
    write(tmp_path / "folder", "new", ("pipe",))
    assert (tmp_path / "folder" / "pipe").is_fifo()
