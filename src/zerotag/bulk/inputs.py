"""Several files as one sequence of records, cut into chunks that depend on nothing but the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from zerotag.data import START, Columns, Position, Record, Reject, Source, records
from zerotag.errors import ZerotagError
from zerotag.render.jsonl import Origin
from zerotag.types import Sentence

_MAX_CHARACTERS = 1_000_000  # of a chunk: a thousand books must not be in memory at once


class Cursor(NamedTuple):
    """Where reading goes on: which file, and where in it."""

    file: int = 0
    position: Position = START


BEGINNING = Cursor()


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


@dataclass(slots=True)
class Chunk:
    """Neighbouring records, and where reading goes on after them."""

    sentences: list[Sentence] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    end: Cursor = BEGINNING


class Inputs:
    """The files to label, in their order, or standard input."""

    def __init__(self, sources: Sequence[Source], columns: Columns) -> None:
        if len(sources) > 1 and any(source.path is None for source in sources):
            raise ZerotagError("standard input goes alone; give files, or - and nothing else")
        self.sources = tuple(sources)
        self._columns = columns
        self._current = 0
        self._sizes: list[int] = []

    @property
    def are_files(self) -> bool:
        """Whether reading can begin anywhere, and again: not for standard input and other pipes."""
        return all(source.can_be_read_again for source in self.sources)

    def check(self) -> None:
        """Refuse files that are missing, of an unknown format or without their columns, and if all are empty.

        A run of hours should not stop at the last file for what can be known before the first.
        """
        again = [file for file, source in enumerate(self.sources) if source.can_be_read_again]
        empty = [next(self._records(file), None) is None for file in again]
        if self.are_files:
            if all(empty):
                others = " and the other files" if len(empty) > 1 else ""
                raise ZerotagError(f"{self.sources[0].name}{others}: no sentences in it; give a file that has some")
            self._sizes = [source.path.stat().st_size for source in self.sources if source.path]

    @property
    def share_read(self) -> float | None:
        """How much has been read so far, from 0 to 1, by bytes; unknown for pipes."""
        if not self._sizes:
            return None
        before, size = sum(self._sizes[: self._current]), self._sizes[self._current]
        return (before + size * self.sources[self._current].share_read) / (sum(self._sizes) or 1)

    def identity(self) -> list[list[object]]:
        """What tells the files from others, without reading them: names, sizes, times of the last change."""
        files = [(source.path, source.path.stat()) for source in self.sources if source.path]
        return [[str(path), str(path.resolve()), stat.st_size, stat.st_mtime_ns] for path, stat in files]

    def chunks(self, start: Cursor, sentences: int) -> Iterator[Chunk]:
        """The records from a cursor on, so many at a time, fewer if they are long.

        Where a chunk ends follows from where the first one starts. Scores may depend in their last digits on what is
        scored together; so who goes on at the end of a chunk gets the very same results.
        """
        chunk, characters = Chunk(), 0
        for file in range(start.file, len(self.sources)):
            self._current = file
            for record in self._records(file, start.position if file == start.file else START):
                origin = Origin(self.sources[file].name, record.line)
                if isinstance(record.content, Reject):
                    chunk.rejected.append(Rejected(origin, *record.content))
                else:
                    chunk.sentences.append(record.content.sentence)
                    chunk.origins.append(origin)
                    characters += len(record.content.sentence.text)
                chunk.end = Cursor(file, record.end)
                if len(chunk.sentences) + len(chunk.rejected) >= sentences or characters >= _MAX_CHARACTERS:
                    yield chunk
                    chunk, characters = Chunk(), 0
        if chunk.sentences or chunk.rejected:
            yield chunk

    def _records(self, file: int, start: Position = START) -> Iterator[Record]:
        return records(self.sources[file], columns=self._columns, start=start)
