"""Opening files, and decoding text line by line with the line number of whatever is wrong."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from zerotag.errors import ZerotagError

_STDIN = "standard input"


def name_of(path: Path | None) -> str:
    """How messages call the source; None is standard input."""
    return _STDIN if path is None else str(path)


@contextmanager
def opened(path: Path | None) -> Iterator[BinaryIO]:
    """The bytes of a file, unzipped if its name ends in .gz, or of standard input for None."""
    name = name_of(path)
    try:
        if path is None:
            yield sys.stdin.buffer
        elif path.suffix.lower() == ".gz":
            with gzip.open(path, "rb") as unzipped:
                yield cast(BinaryIO, unzipped)
        else:
            with path.open("rb") as file:
                yield file
    except FileNotFoundError:
        raise ZerotagError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise ZerotagError(f"{name}: a folder, not a file; give one of the files in it") from None
    except PermissionError:
        raise ZerotagError(f"{name}: no permission to read it; see its owner and mode") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ZerotagError(f"{name}: damaged gzip file ({error}); zip or fetch it again") from None
    except OSError as error:
        raise ZerotagError(f"{name}: cannot be read ({error.strerror or error})") from None


def lines(path: Path | None) -> Iterator[tuple[str, str]]:
    """Each line with its `file:line`, line end included. Only a line feed ends a line."""
    name = name_of(path)
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            where = f"{name}:{number}"
            text = _decoded(line, where)
            yield where, text.removeprefix("\ufeff") if number == 1 else text


def without_end(line: str) -> str:
    """The line without its line feed or carriage return and line feed."""
    return line.removesuffix("\n").removesuffix("\r")


def _decoded(line: bytes, where: str) -> str:
    if b"\0" in line:
        raise ZerotagError(f"{where}: a NUL byte: a binary file, or text that is not UTF-8; save it as UTF-8")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ZerotagError(
            f"{where}: not UTF-8 (byte {line[error.start]:#04x} at position {error.start + 1}); save it as UTF-8"
        ) from None
