"""Opening files, unpacking them on the way, and knowing how much of them has been read."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from zerotag.errors import ZerotagError
from zerotag.io.pipes import Arriving

PACKED = (".gz", ".zst")
_STDIN = "standard input"
_PIECE = 1 << 20  # bytes
_BUFFER = 1 << 16


class Position(NamedTuple):
    """Where in a file reading goes on: bytes, once unpacked, and lines before it; both are rows for Parquet."""

    offset: int = 0
    line: int = 0


START = Position()


class Source:
    """A file, unpacked if its name ends in .gz or .zst, or standard input for None."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.name = _STDIN if path is None else str(path)
        self._share_read: Callable[[], float] = lambda: 0.0
        self._is_late: Callable[[], bool] = lambda: False

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
    def share_read(self) -> float:
        """How much of the file has been read so far, from 0 to 1."""
        return self._share_read()

    def share_is(self, share: Callable[[], float]) -> None:
        """Let a reader that jumps about in the file say how much of it has been read."""
        self._share_read = share

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
            raw = opened.enter_context(self.path.open("rb"))
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
    def opened_for_jumps(self) -> Iterator[BinaryIO]:
        """The unpacked bytes for a reader that needs to go back and forth; what is packed goes to a scratch file."""
        with self.opened() as file:
            if not self._packing:
                yield file
                return
            with tempfile.TemporaryFile() as scratch:
                shutil.copyfileobj(file, scratch, _PIECE)
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
