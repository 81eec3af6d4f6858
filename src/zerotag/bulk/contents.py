"""What was read of a file, told by a digest: so that nobody goes on with a file that has become another one."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from zerotag.io.stores import opened_raw

_PIECE = 1 << 20  # bytes


class Content(NamedTuple):
    """The first bytes of a file: how many, and their digest."""

    length: int
    digest: str


class Prefix:
    """The bytes of a file from its beginning to wherever somebody has read, seen as they are read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._length = 0
        self._digest = blake2b(digest_size=20)
        self._whole: Content | None = None

    @property
    def content(self) -> Content:
        """What was read so far."""
        return self._whole or Content(self._length, self._digest.hexdigest())

    def see(self, start: int, data: memoryview) -> None:
        """Take in what was read at a place; of a reader that jumped ahead, as for Parquet, also what is before it."""
        if start > self._length:
            self.read_on(start)
        new = data[self._length - start :]
        self._digest.update(new)
        self._length += len(new)

    def read_on(self, length: int | None = None) -> Content:
        """Read up to a length, or all; a file that is shorter tells what it has."""
        if self._whole:
            return self._whole
        with opened_raw(self._path) as file:
            file.seek(self._length)
            while length is None or self._length < length:
                piece = file.read(_PIECE if length is None else min(_PIECE, length - self._length))
                if not piece:
                    break
                self._digest.update(piece)
                self._length += len(piece)
        if length is None:
            self._whole = self.content  # of many files: they are not opened again, nor computed
        return self.content
