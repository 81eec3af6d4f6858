"""A folder that many machines write into, here or in a store, whose files appear whole or not at all."""

from __future__ import annotations

import glob
import io
import re
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

from zerotag.errors import ZerotagError
from zerotag.io.files import disk, explained, make_folders, put
from zerotag.io.locks import only_us

WORK_FOLDERS = "work"
_READ_AHEAD = 8 << 20  # bytes; each request to a store takes a tenth of a second
_URL = re.compile(r"([a-z][a-z0-9+.-]+)://")
_OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az"}  # what is uploaded is there at once, or not at all


def is_url(place: str) -> bool:
    """Whether a place is in a store, and not on this machine."""
    return _URL.match(place) is not None


def path_of(place: str) -> Path:
    """The path of a file, or of one in a store: that is no `Path`, but all that we ask of one it answers."""
    if not is_url(place):
        return Path(place)
    with _extra_needed(place):
        from upath import UPath

        return cast(Path, UPath(place))


def opened_raw(path: Path) -> io.RawIOBase:
    """A file, to be read, as it is and by large pieces; of one in a store just the pieces that are asked for."""
    if isinstance(path, Path):
        return path.open("rb", buffering=0)
    with store_errors_explained(str(path)):
        remote: Any = path
        return cast(io.RawIOBase, remote.fs.open(remote.path, "rb", block_size=_READ_AHEAD, cache_type="readahead"))


def matching(pattern: str) -> list[str]:
    """The files that fit a pattern, in their order."""
    if not is_url(pattern):
        return sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (which would change how they are written)
    with store_errors_explained(pattern):
        fs, path = _file_system(pattern)
        return sorted(fs.unstrip_protocol(name) for name in fs.glob(path))


def store_at(place: str) -> Store:
    """The store of a folder, or of a URL such as s3://bucket/folder."""
    return RemoteStore(place) if is_url(place) else LocalStore(Path(place))


class Store(Protocol):
    """Such a folder; names in it have slashes."""

    place: str

    def read(self, name: str) -> bytes:
        """All of a file; FileNotFoundError if there is none."""
        ...

    def opened(self, name: str) -> BinaryIO:
        """A file, to be read."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Make a file, in place of another one of that name."""
        ...

    def take(self, file: Path, name: str) -> None:
        """Make a file out of one of this machine, which is gone then."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        ...

    def size(self, name: str) -> int | None:
        """How many bytes a file has, if it is there."""
        ...

    def names(self, folder: str) -> list[str]:
        """The files in a folder of it; none if there is no such folder."""
        ...

    def clear(self, folder: str) -> None:
        """Remove a folder of it with all that is in it, if it is there."""
        ...

    def work_folder(self, name: str) -> AbstractContextManager[WorkFolder]:
        """A folder to work in; if it can be, the one where another process was stopped, and for us alone."""
        ...


class WorkFolder(NamedTuple):
    """A folder of this machine to work in, and whether nobody else can have one of that name meanwhile."""

    folder: Path
    ours_alone: bool


class LocalStore:
    """A folder of this machine, or of a file system that several machines share."""

    def __init__(self, folder: Path) -> None:
        self.place = str(folder)
        self._folder = folder

    def read(self, name: str) -> bytes:
        """All of a file."""
        return (self._folder / name).read_bytes()

    def opened(self, name: str) -> BinaryIO:
        """A file, to be read."""
        return (self._folder / name).open("rb")

    def write(self, name: str, content: bytes) -> None:
        """Make a file."""
        place = self._folder / name
        with explained(place):
            make_folders(place.parent)
            new = place.with_name(f".{place.name}.{uuid.uuid4().hex}")  # there may be two of us
            try:
                new.write_bytes(content)
                put(new, place)
            finally:
                disk.remove(new)

    def take(self, file: Path, name: str) -> None:
        """Move a file here."""
        place = self._folder / name
        with explained(place):
            make_folders(place.parent)
            put(file, place)

    def remove(self, name: str) -> None:
        """Remove a file."""
        disk.remove(self._folder / name)

    def size(self, name: str) -> int | None:
        """How many bytes a file has."""
        place = self._folder / name
        return place.stat().st_size if place.is_file() else None

    def names(self, folder: str) -> list[str]:
        """The files in a folder of it; what is hidden is still to be renamed."""
        place = self._folder / folder
        return [path.name for path in place.iterdir() if path.name[0] != "."] if place.is_dir() else []

    def clear(self, folder: str) -> None:
        """Remove a folder of it."""
        disk.remove(self._folder / folder)

    @contextmanager
    def work_folder(self, name: str) -> Iterator[WorkFolder]:
        """A folder of it, which is removed once it is empty."""
        folder = self._folder / WORK_FOLDERS / name
        with explained(folder):
            make_folders(folder)
        with only_us(folder) as ours_alone:
            if ours_alone:
                yield WorkFolder(folder, ours_alone)
                if not any(folder.iterdir()):
                    folder.rmdir()
            else:  # a file system without locks
                with tempfile.TemporaryDirectory(dir=folder) as own:
                    yield WorkFolder(Path(own), ours_alone)


class RemoteStore:
    """A folder of a store that fsspec knows."""

    def __init__(self, url: str) -> None:
        self.place = url
        self.fs, self._root = _file_system(url)

    def read(self, name: str) -> bytes:
        """All of a file."""
        with store_errors_explained(self._url(name)):
            return cast(bytes, self.fs.cat_file(self._path(name)))

    def opened(self, name: str) -> BinaryIO:
        """A file, to be read."""
        with store_errors_explained(self._url(name)):
            return cast(BinaryIO, self.fs.open(self._path(name), "rb"))

    def write(self, name: str, content: bytes) -> None:
        """Upload some bytes."""
        with self._placed(name) as place:
            self.fs.pipe_file(place, content)

    def take(self, file: Path, name: str) -> None:
        """Upload a file, in several parts if it is large; they become a file once all are there."""
        with self._placed(name) as place:
            self.fs.put_file(str(file), place)
        file.unlink()

    def remove(self, name: str) -> None:
        """Remove a file."""
        with store_errors_explained(self._url(name)):
            self.fs.invalidate_cache()
            if self.fs.exists(self._path(name)):
                self.fs.rm_file(self._path(name))

    def size(self, name: str) -> int | None:
        """How many bytes a file has."""
        with store_errors_explained(self._url(name)):
            self.fs.invalidate_cache()
            try:
                return int(self.fs.info(self._path(name))["size"])
            except FileNotFoundError:
                return None

    def names(self, folder: str) -> list[str]:
        """The files in a folder of it."""
        with store_errors_explained(self._url(folder)):
            self.fs.invalidate_cache()
            try:
                found = self.fs.ls(self._path(folder), detail=False)
            except FileNotFoundError:
                return []
            return [name for name in (path.rpartition("/")[2] for path in found) if name and name[0] != "."]

    def clear(self, folder: str) -> None:
        """Remove a folder of it."""
        with store_errors_explained(self._url(folder)):
            self.fs.invalidate_cache()
            if self.fs.exists(self._path(folder)):
                self.fs.rm(self._path(folder), recursive=True)

    @contextmanager
    def work_folder(self, name: str) -> Iterator[WorkFolder]:
        """A scratch folder of this machine."""
        with tempfile.TemporaryDirectory(prefix=f"zerotag-{name}-") as folder:
            yield WorkFolder(Path(folder), ours_alone=False)

    @contextmanager
    def _placed(self, name: str) -> Iterator[str]:
        """Where to upload something, so that nobody sees half of it."""
        place = self._path(name)
        folder, _, own = place.rpartition("/")
        at_once = not _OBJECT_STORES.isdisjoint(_protocols(self.fs))
        new = place if at_once else f"{folder}/.{own}.{uuid.uuid4().hex}"
        try:
            if not at_once:
                self.fs.makedirs(folder, exist_ok=True)
            yield new
            if not at_once:
                self.fs.mv(new, place)
        except Exception as error:
            raise store_error(self._url(name), error) from error

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    def _url(self, name: str) -> str:
        return f"{self.place.rstrip('/')}/{name}"


def _file_system(url: str) -> tuple[Any, str]:
    """The file system of a URL, as fsspec has it, and the path there."""
    with _extra_needed(url):
        from fsspec.core import url_to_fs

        return cast(tuple[Any, str], url_to_fs(url))


@contextmanager
def _extra_needed(url: str) -> Iterator[None]:
    try:
        yield
    except (ImportError, ValueError) as error:
        raise ZerotagError(f"{url}: {error}; S3 needs: pip install 'zerotag[storage]'") from None


def _protocols(fs: Any) -> set[str]:
    return {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)


@contextmanager
def store_errors_explained(url: str) -> Iterator[None]:
    """Say in one line what a store complains about."""
    try:
        yield
    except (FileNotFoundError, ZerotagError):
        raise
    except Exception as error:
        raise store_error(url, error) from error


def store_error(url: str, error: Exception) -> ZerotagError:
    """What a store complains about, in one line; every store has errors of its own."""
    reason = str(error).strip().partition("\n")[0] or type(error).__name__
    return ZerotagError(f"{url}: the store answers: {reason}")
