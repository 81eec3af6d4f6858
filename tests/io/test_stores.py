"""Folders of a store: files appear whole or not at all. S3 is played by moto's server, which speaks its protocol."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import s3
from zerotag.errors import ZerotagError
from zerotag.io import Source
from zerotag.io.stores import LocalStore, RemoteStore, is_url, matching, path_of, store_at


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with s3.bucket() as place:
        yield place


@pytest.fixture(params=["folder", "memory", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "folder":
        yield str(tmp_path / "store")
    elif request.param == "memory":
        fsspec = pytest.importorskip("fsspec")
        pytest.importorskip("upath")
        yield "memory://bucket/store"
        fsspec.filesystem("memory").store.clear()
    else:
        yield f"{request.getfixturevalue('bucket')}/{uuid.uuid4().hex}"


def test_what_is_written_is_there(place: str, tmp_path: Path) -> None:
    store = store_at(place)
    assert store.names("done") == []
    assert store.size("done/1.json") is None
    with pytest.raises(FileNotFoundError):
        store.read("done/1.json")
    store.write("done/1.json", b"one")
    store.write("done/1.json", b"another")
    (tmp_path / "file").write_bytes(b"some bytes")
    store.take(tmp_path / "file", "labels/1")
    assert not (tmp_path / "file").exists()
    again = store_at(place)
    assert again.read("done/1.json") == b"another"
    assert again.names("done") == ["1.json"]
    assert again.size("labels/1") == 10
    with again.opened("labels/1") as file:
        assert file.read() == b"some bytes"
    again.remove("done/1.json")
    again.remove("done/1.json")
    again.clear("labels")
    assert (again.names("done"), again.names("labels")) == ([], [])


def test_a_desk_is_cleared_unless_others_can_go_on_there(place: str) -> None:
    store = store_at(place)
    with store.work_folder("one") as work:
        (work.folder / "file").touch()
        assert work.ours_alone == isinstance(store, LocalStore)
    assert work.folder.exists() == isinstance(store, LocalStore)
    with store.work_folder("one") as again:
        (again.folder / "file").unlink(missing_ok=True)
    assert not again.folder.exists()


def test_a_source_in_a_store_is_read_from_anywhere(place: str) -> None:
    store_at(place).write("a.txt", b"one\ntwo\nthree\n")
    name = f"{place}/a.txt"
    source = Source(path_of(name))
    assert source.name == name
    assert source.can_be_read_again
    with source.opened(4) as file:
        assert file.readlines() == [b"two\n", b"three\n"]
    (found,) = matching(f"{place}/*.txt")
    with Source(path_of(found)).opened() as file:
        assert file.readline() == b"one\n"
    with pytest.raises(ZerotagError, match=f"^{name}x: no such file$"), Source(path_of(f"{name}x")).opened():
        pass


def test_half_an_upload_is_not_there(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_at(place)
    if not isinstance(store, RemoteStore):
        pytest.skip("the crashes of files of this machine are tested elsewhere")

    def cut_off(local: str, remote: str, **_: object) -> None:
        store.fs.pipe_file(remote, Path(local).read_bytes()[:3])
        raise OSError("the line is cut")

    (tmp_path / "file").write_bytes(b"some bytes")
    if "s3" in store.fs.protocol:
        pytest.skip("an upload to S3 is one request, or parts that a last request makes a file of")
    monkeypatch.setattr(store.fs, "put_file", cut_off)
    with pytest.raises(ZerotagError, match=r"/labels/1: the store answers: the line is cut$"):
        store.take(tmp_path / "file", "labels/1")
    assert store.names("labels") == []
    assert (tmp_path / "file").exists()


def test_what_is_a_url() -> None:
    assert [is_url(name) for name in ("s3://bucket/a", "C:/a", "a/b://c", "memory://a", "a.txt")] == [
        True,
        False,
        False,
        True,
        False,
    ]


def test_a_store_of_an_unknown_kind_is_an_error_of_one_line() -> None:
    with pytest.raises(ZerotagError, match=r"^nowhere://a: Protocol not known: nowhere; S3 needs: pip install"):
        store_at("nowhere://a")
