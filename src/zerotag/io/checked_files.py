"""Files that strangers wrote: only regular ones are opened, and JSON is read within limits."""

from __future__ import annotations

import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn

from zerotag.errors import ZerotagError
from zerotag.io.json_values import is_deeper

LARGEST_JSON = 2**24  # bytes; manifests and configurations have some thousands
DEEPEST_JSON = 32  # levels of objects and lists; they have four


def open_regular(file: Path) -> BufferedReader:
    """Open a regular file, or one that a symbolic link leads to.

    A FIFO would never end, and to open a device may do something; an empty file is none of a model's. Raises OSError
    or ZerotagError.
    """
    if not stat.S_ISREG(file.stat().st_mode):
        raise ZerotagError(f"{file} is not a regular file, nor a link to one")
    # Not blocking, since the file may have been replaced, and some of /proc look regular.
    content = os.fdopen(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb")
    found = os.fstat(content.fileno())
    if not stat.S_ISREG(found.st_mode) or not found.st_size:
        content.close()
        raise ZerotagError(f"{file} is empty" if stat.S_ISREG(found.st_mode) else f"{file} is not a regular file")
    return content


def read_bytes(file: Path, most: int) -> bytes:
    """All of a regular file, which may have a number of bytes and no more."""
    with open_regular(file) as content:
        found = content.read(most + 1)
    if len(found) > most:
        raise ZerotagError(f"{file} has more than {most:,} bytes")
    return found


def read_json_object(file: Path) -> dict[str, Any]:
    """The object in a JSON file, of bounded size and depth, with finite numbers."""
    return parse_json_object(file, read_bytes(file, LARGEST_JSON))


def parse_json_object(file: Path, content: bytes) -> dict[str, Any]:
    """The object in the content of a JSON file."""
    try:
        document = json.loads(content.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ZerotagError(f"{file} is not JSON ({error})") from error
    if not isinstance(document, dict):
        raise ZerotagError(f"{file} has no JSON object")
    if is_deeper(document, DEEPEST_JSON):
        raise ZerotagError(f"{file} is not JSON of at most {DEEPEST_JSON} levels")
    return document


def _finite(digits: str) -> float:
    number = float(digits)
    return number if abs(number) != float("inf") else _no_number(digits)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")
