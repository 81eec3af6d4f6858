"""Several files as one sequence of records, cut into chunks that depend on nothing but the files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from zerotag.bulk.blocks import NEVER, Blocks, row_cut_after
from zerotag.bulk.chunks import Cutting, Piece, Reader, Records, Rejected
from zerotag.bulk.contents import Content, Prefix
from zerotag.errors import ZerotagError
from zerotag.io import START, Columns, Position, Record, Source, records
from zerotag.io.lines import Line, raw_lines
from zerotag.io.writers import Origin
from zerotag.types import Sentence

__all__ = ["BEGINNING", "ByteRange", "Chunk", "Cursor", "Inputs", "Part", "Rejected", "Unread"]

PIECE = 1_024  # records that become bytes of output together
MAX_CHARACTERS = 2_000_000  # of a chunk: a thousand books must not be in memory at once
CHARACTERS = 128  # for each record of a chunk of very many, which may have more than that: room for usual sentences


class Cursor(NamedTuple):
    """Where reading goes on: which file, and where in it."""

    file: int = 0
    position: Position = START


BEGINNING = Cursor()


class ByteRange(NamedTuple):
    """Some bytes of a file, packed as they are."""

    file: int
    first: int
    end: int


class Part(NamedTuple):
    """A part of some files of these sizes, from one cursor up to another, which both begin a block."""

    start: Cursor
    end: Cursor
    ranges: tuple[ByteRange, ...]
    """Where it is, file by file."""
    sizes: tuple[int, ...]

    @property
    def files(self) -> range:
        """Those in which there is some of it."""
        return range(self.start.file, self.start.file + len(self.ranges))

    def share_read(self, file: int, byte: float) -> float:
        """How much of it is before a place in one of its files."""
        number = file - self.start.file
        before = sum(one.end - one.first for one in self.ranges[:number])
        in_file = min(max(byte - self.ranges[number].first, 0), self.ranges[number].end - self.ranges[number].first)
        return (before + in_file) / (sum(one.end - one.first for one in self.ranges) or 1)


class Unread(NamedTuple):
    """The pieces that are scored together, where reading goes on after them, and what and how much was read by then."""

    pieces: list[Piece]
    end: Cursor
    share: float | None
    read: tuple[Content, ...]


@dataclass(slots=True)
class Chunk:
    """Records that are scored together, by pieces, where reading goes on after them, and what was read by then."""

    pieces: list[Records]
    end: Cursor
    share: float | None
    read: tuple[Content, ...]

    @property
    def sentences(self) -> list[Sentence]:
        """Those of all pieces."""
        return [sentence for piece in self.pieces for sentence in piece.sentences]

    @property
    def origins(self) -> list[Origin]:
        """Where the sentences stand."""
        return [origin for piece in self.pieces for origin in piece.origins]

    @property
    def rejected(self) -> list[Rejected]:
        """The records that cannot be used."""
        return [rejected for piece in self.pieces for rejected in piece.rejected]


class _Held:
    """What was cut out of the files and is not a chunk yet."""

    def __init__(self, end: Cursor, at_once: int) -> None:
        self.pieces: list[Piece] = []
        self.records = 0
        self.characters = 0
        self.end = end
        self._most_records = at_once
        self._most_characters = max(MAX_CHARACTERS, CHARACTERS * at_once)

    def is_full_with(self, cutting: Cutting) -> bool:
        """Whether it is a chunk with a piece that is being cut."""
        return (
            self.records + cutting.records >= self._most_records
            or self.characters + cutting.characters >= self._most_characters
        )

    def take(self, cutting: Cutting, end: Cursor) -> None:
        """Take a piece that ends at a cursor."""
        if cutting.records:
            self.pieces.append(cutting.done())
        self.records += cutting.records
        self.characters += cutting.characters
        self.end = end


class Inputs:
    """The files to label, in their order, or standard input; of files perhaps just a part."""

    def __init__(self, sources: Sequence[Source], columns: Columns, part: Part | None = None) -> None:
        if len(sources) > 1 and any(source.path is None for source in sources):
            raise ZerotagError("standard input goes alone; give files, or - and nothing else")
        self.sources = tuple(sources)
        self.columns = columns
        self._part = part
        self._files = part.files if part else range(len(self.sources))
        self._current = self._files.start
        self.sizes: Sequence[int] = part.sizes if part else ()  # known once they were looked at; never those of pipes
        self._prefixes: list[Prefix] = []  # of the files that were begun, in their order

    @cached_property
    def are_files(self) -> bool:
        """Whether reading can begin anywhere, and again: not for standard input and other pipes."""
        return all(source.can_be_read_again for source in self.sources)

    @cached_property
    def _are_remembered(self) -> bool:
        """Whether all that is read is digested; of a part that was done when it was cut out."""
        return self.are_files and self._part is None

    def split_by(self, segmenter: str) -> None:
        """Have texts split into words by the segmenter of a model, which is known once the model is loaded."""
        self.columns = replace(self.columns, segmenter=segmenter)

    def check(self) -> None:
        """Refuse files that are missing, of an unknown format or without their columns, and if all are empty.

        A run of hours should not stop at the last file for what can be known before the first.
        """
        again = [file for file in self._files if self.sources[file].can_be_read_again]
        empty = [next(self.records(file), None) is None for file in again]
        if self._are_remembered:
            if all(empty):
                others = " and the other files" if len(empty) > 1 else ""
                raise ZerotagError(f"{self.sources[0].name}{others}: no sentences in it; give a file that has some")
            self.sizes = [source.path.stat().st_size for source in self.sources if source.path]

    @property
    def share_read(self) -> float | None:
        """How much has been read so far, from 0 to 1, by bytes; unknown for pipes."""
        if not self.sizes:
            return None
        in_file = self.sizes[self._current] * self.sources[self._current].share_read
        if self._part:
            return self._part.share_read(self._current, in_file)
        return (sum(self.sizes[: self._current]) + in_file) / (sum(self.sizes) or 1)

    def names_and_sizes(self) -> list[list[object]]:
        """What tells the files from others without reading them."""
        return [[str(source.path), source.path.stat().st_size] for source in self.sources if source.path]

    def first_changed(self, read: Sequence[Content]) -> Path | None:
        """The first file that does not begin as it did when it was read, if there is one."""
        for number, content in enumerate(read):
            if self._prefix(number).read_on(content.length) != content:
                return self.sources[number].path
        return None

    def read_to_the_end(self) -> tuple[Content, ...]:
        """All of all files; of most, somebody has read all by now."""
        files = self._files if self._are_remembered else ()
        return tuple(self._prefix(number).read_on() for number in files)

    def _prefix(self, number: int) -> Prefix:
        while len(self._prefixes) <= number:
            path = self.sources[len(self._prefixes)].path
            assert path is not None  # nobody comes back to a pipe
            self._prefixes.append(Prefix(path))
        return self._prefixes[number]

    def _read(self, number: int) -> tuple[Content, ...]:
        """What was read, up to a file; those before it to their ends."""
        if not self._are_remembered:
            return ()
        before = [self._prefix(earlier).read_on() for earlier in range(number)]
        return (*before, self._prefix(number).content)

    @property
    def reader(self) -> Reader:
        """What reads the pieces."""
        return Reader(tuple(source.path for source in self.sources), self.columns)

    def chunks(self, start: Cursor, at_once: int) -> Iterator[Chunk]:
        """The records from a cursor on, so many at a time, fewer if they are long or if more are still to come."""
        reader = self.reader
        for unread in self.unread(start, at_once):
            yield Chunk([reader.read(piece) for piece in unread.pieces], unread.end, unread.share, unread.read)

    def unread(self, start: Cursor, at_once: int) -> Iterator[Unread]:
        """The same chunks before anybody has read their lines, where lines can be told apart without reading them.

        Where a chunk ends follows from where the first one starts, or any that begins a block. Scores may depend in
        their last digits on what is scored together; so who goes on at the end of a chunk gets the very same results.
        """
        blocks = Blocks(self.sizes, at_once)
        held = _Held(start, at_once)
        for file in range(start.file, self._files.stop):
            if self.sizes and blocks.begin_with(file):
                if held.pieces:
                    yield self._given(held)
                held = _Held(start, at_once)
            self._current = file
            if self._are_remembered:
                self.sources[file].observed_by(self._prefix(file).see)
            yield from self._unread_of(file, start.position if file == start.file else START, blocks, held)
        if held.pieces:
            yield self._given(held)

    def _unread_of(self, file: int, start: Position, blocks: Blocks, held: _Held) -> Iterator[Unread]:
        """The chunks that end in a file; what is left over is held."""
        source = self.sources[file]
        never_late = source.can_be_read_again  # asked here, and not for every line
        cutting = Cutting(file, start)
        cut_after = self._cuts(file, blocks)
        cut, last = cut_after(start.offset), self._last_offset(file)
        for unit in self._units(file, start):
            cutting.add(unit)
            at_cut = unit.end.offset >= cut
            full = at_cut or held.is_full_with(cutting)
            if not (full or never_late) and held.records + cutting.records:
                full = source.is_late
            if full or cutting.records >= PIECE or cutting.characters >= MAX_CHARACTERS // 8:
                held.take(cutting, Cursor(file, unit.end))
                cutting = Cutting(file, unit.end)
            if full:
                yield self._given(held)
            if at_cut:
                cut = cut_after(unit.end.offset)
                if unit.end.offset >= last:
                    return
        if cutting.records:
            held.take(cutting, Cursor(file, unit.end))

    def _given(self, held: _Held) -> Unread:
        """What is held, which is given out."""
        chunk = Unread(held.pieces, held.end, self.share_read, self._read(held.end.file))
        held.pieces, held.records, held.characters = [], 0, 0
        return chunk

    def _cuts(self, file: int, blocks: Blocks) -> Callable[[int], int]:
        """What tells, for a place in a file, from which one on the next block begins."""
        if not self.sizes or self.sources[file].is_packed:
            return lambda _: NEVER
        groups = self.reader.row_groups(file)
        return blocks.byte_cut_after if groups is None else partial(row_cut_after, blocks.row_cuts(groups))

    def _last_offset(self, file: int) -> int:
        """Where in a file the part ends that is read."""
        return self._part.end.position.offset if self._part and file == self._part.end.file else NEVER

    def _units(self, file: int, start: Position) -> Iterator[Line | Record]:
        return raw_lines(self.sources[file], start) if self.reader.by_line(file) else self.records(file, start)

    def records(self, file: int, start: Position = START) -> Iterator[Record]:
        """The records of a file."""
        return records(self.sources[file], columns=self.columns, start=start)
