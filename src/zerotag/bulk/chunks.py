"""Neighbouring records of a file: cut out by whoever reads the file, read by whoever has the time."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from zerotag.io import START, Columns, Position, Record, Reject, Source, records
from zerotag.io.lines import Line
from zerotag.io.readers import RowGroup, reader_for
from zerotag.io.writers import Origin
from zerotag.types import Sentence

_SPACE = ord(" ")


class Rejected(NamedTuple):
    """A record that cannot be used: where it stands, why, and how it begins."""

    origin: Origin
    reason: str
    raw: str

    def record(self) -> dict[str, object]:
        """As plain data; what `source` and `line` say is left out of the reason."""
        source, line = self.origin
        reason = self.reason.removeprefix(f"{source}:{line}: ").removeprefix(f"{source}: row {line}: ")
        return {"source": source, "line": line, "reason": reason, "raw": self.raw}


class Piece(NamedTuple):
    """Records of one file: those that were found there or, from a position on, lines that nobody has read."""

    file: int
    content: Sequence[Record] | bytes | memoryview
    start: Position = START


@dataclass(slots=True)
class Records:
    """What is in a piece."""

    sentences: list[Sentence] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


class Reader(NamedTuple):
    """All that a process needs to read pieces of some files."""

    paths: tuple[Path | None, ...]
    columns: Columns

    def by_line(self, file: int) -> bool:
        """Whether the lines of a file can be cut apart unread."""
        return reader_for(Source(self.paths[file]), self.columns).by_line

    def row_groups(self, file: int) -> list[RowGroup] | None:
        """Where the row groups of a file begin, if places in it are rows; None if they are bytes."""
        source = Source(self.paths[file])
        its_groups = reader_for(source, self.columns).row_groups
        return its_groups and its_groups(source)

    def read(self, piece: Piece) -> Records:
        """The records of a piece."""
        found = Records()
        name = Source(self.paths[piece.file]).name
        for record in self._records(piece):
            origin = Origin(name, record.line)
            if isinstance(record.content, Reject):
                found.rejected.append(Rejected(origin, *record.content))
            else:
                for sentence in self.columns.sentences(record.content.sentence):
                    found.sentences.append(sentence)
                    found.origins.append(origin)
        return found

    def _records(self, piece: Piece) -> Iterable[Record]:
        if not isinstance(piece.content, bytes | memoryview):
            return piece.content
        return records(_Lines(self.paths[piece.file], piece.content), columns=self.columns, start=piece.start)


class _Lines(Source):
    """Some lines of a source, unpacked."""

    def __init__(self, path: Path | None, content: bytes | memoryview) -> None:
        super().__init__(path)
        self._content = content

    @contextmanager
    def opened(self, offset: int = 0) -> Iterator[BinaryIO]:  # noqa: ARG002 (it is where they start)
        """The lines."""
        yield io.BytesIO(self._content)


class Cutting:
    """A piece while it is being cut out of a file."""

    def __init__(self, file: int, start: Position) -> None:
        self.records = 0
        self.characters = 0
        self._file = file
        self._start = start
        self._lines: list[bytes] = []
        self._found: list[Record] = []

    def add(self, unit: Line | Record) -> None:
        """Take what comes next in the file, a line or a record."""
        if isinstance(unit, Record):
            self._found.append(unit)
            self.records += 1
            self.characters += 0 if isinstance(unit.content, Reject) else len(unit.content.sentence.text)
        else:
            raw = unit.raw
            if self._lines and not self._lines[-1].endswith(b"\n"):  # it was too long, and its end was cut off
                self._lines[-1] += b"\n"
            self._lines.append(raw)
            visible = raw[0] > _SPACE and unit.number > 1  # most lines, which need no closer look
            self.records += visible or not unit.is_blank
            self.characters += len(raw.rstrip(b"\r\n")) or 1

    def done(self) -> Piece:
        """The piece."""
        return Piece(self._file, self._found or b"".join(self._lines), self._start)
