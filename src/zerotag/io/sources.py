"""Opening files, unpacking them on the way, and knowing how much of them has been read."""

from __future__ import annotations

import glob
import gzip
import io
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from zerotag.errors import ZerotagError
from zerotag.io.pipes import Arriving
from zerotag.io.stores import is_url, matching, opened_raw, store_error

PACKED = (".gz", ".zst")
_STDIN = "standard input"
_PIECE = 1 << 20  # bytes
_BUFFER = 1 << 16


class Position(NamedTuple):
    """Where in a file reading goes on: bytes, once unpacked, and lines before it; both are rows for Parquet."""

    offset: int = 0
    line: int = 0


START = Position()


def expanded(names: Sequence[str]) -> list[str]:
    """The names, and in place of each pattern such as corpus/*.txt, which no shell has seen, the files that fit it."""
    return [file for name in names for file in (_fitting(name) if _is_pattern(name) else [name])]


def _is_pattern(name: str) -> bool:
    return glob.has_magic(name) and (is_url(name) or not Path(name).exists())


def _fitting(pattern: str) -> list[str]:
    found = matching(pattern)
    if not found:
        raise ZerotagError(f"{pattern}: no such file, nor any that fits the pattern")
    return found


class Source:
    """A file, unpacked if its name ends in .gz or .zst, or standard input for None."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.name = _STDIN if path is None else str(path)
        self._share_read: Callable[[], float] = lambda: 0.0
        self._is_late: Callable[[], bool] = lambda: False
        self._observer: Callable[[int, memoryview], None] | None = None

    @property
    def can_be_read_again(self) -> bool:
        """Whether it is no pipe: what came out of one is gone."""
        return self.path is not None and not self.path.is_fifo() and not self.path.is_char_device()

    @property
    def unpacked_name(self) -> Path:
        """The name without .gz or .zst, whose suffix tells the format."""
        path = self.path or Path()
        return path.with_suffix("") if self._packing else path

    @property
    def is_packed(self) -> bool:
        """Whether it can only be read from its beginning on."""
        return bool(self._packing)

    @property
    def share_read(self) -> float:
        """How much of the file has been read so far, from 0 to 1."""
        return self._share_read()

    def share_is(self, share: Callable[[], float]) -> None:
        """Let a reader that jumps about in the file say how much of it has been read."""
        self._share_read = share

    def observed_by(self, observer: Callable[[int, memoryview], None]) -> None:
        """Let somebody see the bytes of the file, packed as they are, and where they begin whenever some are read."""
        self._observer = observer

    @property
    def is_late(self) -> bool:
        """Whether the next line of a pipe lets us wait, so that what there is had better be used."""
        return self._is_late()

    @contextmanager
    def opened(self, offset: int = 0) -> Iterator[BinaryIO]:
        """The unpacked bytes from an offset on."""
        with self._problems_explained(), ExitStack() as opened:
            if self.path is None:
                arriving = Arriving(cast(io.BufferedIOBase, sys.stdin.buffer))
                self._is_late = arriving.is_late
                yield cast(BinaryIO, arriving)
                return
            raw = opened.enter_context(_opened(self.path, self._observer))
            if raw.seekable():
                size = self.path.stat().st_size or 1
                self.share_is(lambda: 1.0 if raw.closed else raw.tell() / size)
            file = opened.enter_context(_unpacked(raw, self._packing))
            if self._packing:
                _pass_over(file, offset)
            elif offset:
                file.seek(offset)
            yield file

    @contextmanager
    def opened_packed(self) -> Iterator[BinaryIO]:
        """The bytes of the file as they are."""
        assert self.path is not None
        with self._problems_explained(), _opened(self.path, None) as raw:
            yield raw

    @contextmanager
    def opened_for_jumps(self, most: int) -> Iterator[BinaryIO]:
        """The unpacked bytes for a reader that needs to go back and forth.

        What is packed goes to a scratch file, if it has at most so many bytes.
        """
        with self.opened() as file:
            if not self._packing:
                yield file
                return
            with tempfile.TemporaryFile() as scratch:
                left = most
                while piece := file.read(min(_PIECE, left + 1)):
                    left -= len(piece)
                    if left < 0:
                        raise ZerotagError(
                            f"{self.name}: more than {most:,} bytes once it is unpacked; unpack it first"
                        )
                    scratch.write(piece)
                scratch.seek(0)
                yield cast(BinaryIO, scratch)

    @property
    def _packing(self) -> str:
        suffix = self.path.suffix.lower() if self.path else ""
        return suffix if suffix in PACKED else ""

    @contextmanager
    def _problems_explained(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise ZerotagError(f"{self.name}: no such file") from None
        except IsADirectoryError:
            raise ZerotagError(f"{self.name}: a folder, not a file; give one of the files in it") from None
        except PermissionError:
            raise ZerotagError(f"{self.name}: no permission to read it; see its owner and mode") from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ZerotagError(f"{self.name}: damaged gzip file ({error}); zip or fetch it again") from None
        except OSError as error:
            if self._packing == ".zst" and error.errno is None:  # how Arrow reports it
                raise ZerotagError(f"{self.name}: damaged zstd file ({error}); pack or fetch it again") from None
            raise ZerotagError(f"{self.name}: cannot be read ({error.strerror or error})") from None
        except ZerotagError:
            raise
        except Exception as error:
            if self.path is None or isinstance(self.path, Path):
                raise
            raise store_error(self.name, error) from None


def _opened(path: Path, observer: Callable[[int, memoryview], None] | None) -> BinaryIO:
    file = opened_raw(path)
    return cast(BinaryIO, io.BufferedReader(file if observer is None else _Observed(file, observer), _BUFFER))


class _Observed(io.RawIOBase):
    """A file whose bytes somebody sees as they are read."""

    def __init__(self, file: io.RawIOBase, observer: Callable[[int, memoryview], None]) -> None:
        self._file = file
        self._observer = observer

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def fileno(self) -> int:
        return self._file.fileno()

    def readinto(self, buffer: Any, /) -> int:
        start = self._file.tell()
        count = self._file.readinto(buffer)
        self._observer(start, memoryview(buffer)[:count])
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _unpacked(raw: BinaryIO, packing: str) -> BinaryIO:
    if packing == ".gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw, mode="rb"))
    if packing == ".zst":
        import pyarrow as pa  # here, because it is slow to load and few need it

        return cast(BinaryIO, io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd"), _BUFFER))
    return raw


def _pass_over(file: BinaryIO, count: int) -> None:
    while count > 0 and (piece := file.read(min(count, _PIECE))):
        count -= len(piece)
