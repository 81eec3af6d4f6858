"""Lines that come out of a pipe: whoever reads them can know whether the next one is there already."""

from __future__ import annotations

from collections import deque
from io import BufferedIOBase
from select import select
from time import monotonic

_PIECE = 1 << 16  # bytes
PATIENCE = 0.1  # seconds in all, until somebody is told that the next line is late


class Arriving:
    """A file to be read line by line."""

    def __init__(self, file: BufferedIOBase, *, patience: float = PATIENCE) -> None:
        self._file = file
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()  # a line that has not ended yet
        self._ended = False
        self._patience = self._left = patience

    def readline(self, most: int) -> bytes:
        """The next line, nothing at the end; of one that is still to end, once there are so many bytes, these."""
        while not self._lines and not self._ended and len(self._rest) < most:
            self._read()
        if self._lines:
            return self._lines.popleft()
        some = bytes(self._rest[:most])
        del self._rest[:most]
        return some

    def is_late(self) -> bool:
        """Whether the next line lets us wait; one that comes within a moment does not, nor does the end."""
        while not self._lines and not self._ended:
            if not self._something_comes():
                self._left = self._patience
                return True
            self._read()
        return False

    def _read(self) -> None:
        piece = self._file.read1(_PIECE)
        self._ended = not piece
        *ends, rest = piece.split(b"\n")
        for end in ends:
            self._lines.append(bytes(self._rest + end + b"\n"))
            self._rest.clear()
        self._rest += rest

    def _something_comes(self) -> bool:
        begun = monotonic()
        try:
            ready, _, _ = select([self._file], [], [], self._left)
        except OSError:  # no file that the system could wait for: all of it is there
            return True
        self._left = max(0.0, self._left - (monotonic() - begun))
        return bool(ready)
