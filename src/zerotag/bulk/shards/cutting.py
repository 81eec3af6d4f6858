"""Cuts files into shards: whole blocks, as a single run has them, of about as many bytes each."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from itertools import chain, groupby, pairwise
from operator import attrgetter
from typing import BinaryIO, NamedTuple

from zerotag.bulk.blocks import Blocks
from zerotag.bulk.inputs import BEGINNING, ByteRange, Cursor, Inputs
from zerotag.bulk.shards.plan import Shard
from zerotag.errors import ZerotagError
from zerotag.io import START, Position, Source

_PIECE = 1 << 20  # bytes
_EDGE = 1 << 16  # bytes at both ends of a file, where formats have what all of it depends on
_THREADS = min(16, os.cpu_count() or 1)

Advance = Callable[[int], None]


class _Place(NamedTuple):
    """Where a block begins: after how many bytes of all files, in which file, and where it is looked for there."""

    before: int
    file: int
    byte: int
    row: int
    """Before which row, if that is how places are counted there; else 0."""


def cut(inputs: Inputs, at_once: int, shards: int, advance: Advance = lambda _: None) -> tuple[Shard, ...]:
    """So many shards, or fewer if there are not as many blocks; bytes are reported as they are read."""
    sizes = inputs.sizes
    places = _chosen([*_places(inputs, Blocks(sizes, at_once))], sum(sizes), shards)
    by_file = {file: list(own) for file, own in groupby(places, key=attrgetter("file"))}
    with ThreadPoolExecutor(_THREADS) as threads:
        cursors = threads.map(lambda file: [*_cursors(inputs, file, by_file[file])], by_file)
        cuts = sorted({BEGINNING, *chain.from_iterable(cursors), Cursor(len(sizes))})
        ranges = [_ranges(inputs, start, end) for start, end in pairwise(cuts)]
        digests = threads.map(lambda own: [digest(inputs.sources[one.file], one, advance) for one in own], ranges)
        return tuple(
            Shard(start, end, own, tuple(of_own))
            for (start, end), own, of_own in zip(pairwise(cuts), ranges, digests, strict=True)
        )


def _places(inputs: Inputs, blocks: Blocks) -> Iterator[_Place]:
    """Where shards could begin: files that are packed are not entered."""
    before = 0
    for file, size in enumerate(inputs.sizes):
        if blocks.begin_with(file):
            yield _Place(before, file, 0, 0)
        if size >= blocks.stride and not inputs.sources[file].is_packed:
            groups = inputs.reader.row_groups(file)
            cuts = blocks.byte_cuts(size) if groups is None else blocks.row_cuts(groups)
            yield from (_Place(before + byte, file, byte, row) for row, byte in cuts)
        before += size


def _chosen(places: Sequence[_Place], total: int, shards: int) -> list[_Place]:
    """The places nearest before equal shares of the bytes."""
    starts = [place.before for place in places]
    wanted = (total * number // shards for number in range(shards))
    return [places[i] for i in sorted({bisect_right(starts, byte) - 1 for byte in wanted})]


def _cursors(inputs: Inputs, file: int, places: Sequence[_Place]) -> Iterator[Cursor]:
    """Where the blocks really begin: after the first record that ends at the place or beyond."""
    inside = [place for place in places if place.byte]
    yield from (Cursor(file) for place in places if not place.byte)
    if inside and inside[0].row:
        yield from (Cursor(file, Position(place.row, place.row)) for place in inside)
    elif inside:
        ends = _line_ends if inputs.reader.by_line(file) else _record_ends
        for position in ends(inputs, file, [place.byte for place in inside]):
            yield Cursor(file, position) if position.offset < inputs.sizes[file] else Cursor(file + 1)


def _line_ends(inputs: Inputs, file: int, places: Sequence[int]) -> Iterator[Position]:
    """The first line ends at some places or beyond."""
    offset = number = 0
    left = deque(places)
    with inputs.sources[file].opened() as opened:
        while left and (piece := opened.read(_PIECE)):
            counted = 0
            while left and (end := piece.find(b"\n", max(0, left[0] - 1 - offset)) + 1):
                number += piece.count(b"\n", counted, end)
                counted = end
                yield Position(offset + end, number)
                _pass(left, offset + end)
            number += piece.count(b"\n", counted)
            offset += len(piece)


def _record_ends(inputs: Inputs, file: int, places: Sequence[int]) -> Iterator[Position]:
    """The same of records that are more than a line: they have to be read."""
    left = deque(places)
    for record in inputs.records(file):
        if record.end.offset >= left[0]:
            yield record.end
            _pass(left, record.end.offset)
            if not left:
                return


def _pass(left: deque[int], end: int) -> None:
    while left and left[0] <= end:
        left.popleft()


def _ranges(inputs: Inputs, start: Cursor, end: Cursor) -> tuple[ByteRange, ...]:
    return tuple(
        ByteRange(
            file,
            _byte(inputs, start) if file == start.file else 0,
            _byte(inputs, end) if file == end.file else inputs.sizes[file],
        )
        for file in range(start.file, end.file + (end.position != START))
    )


def _byte(inputs: Inputs, cursor: Cursor) -> int:
    """Where in a file something begins."""
    place = cursor.position.offset
    groups = inputs.reader.row_groups(cursor.file) if place else None
    return place if groups is None else next(group.byte for group in groups if group.row == place)


def digest(source: Source, part: ByteRange, advance: Advance = lambda _: None) -> str:
    """Of some bytes of a file, of its size, and of its beginning and end, which say how the rest is read."""
    with source.opened_packed() as file:
        size = file.seek(0, os.SEEK_END)
        found = blake2b(str(size).encode(), digest_size=20)
        for first, end in ((0, _EDGE), (max(0, size - _EDGE), size), (part.first, part.end)):
            file.seek(first)
            for piece in _pieces(file, end - first):
                found.update(piece)
    advance(part.end - part.first)
    return found.hexdigest()


def _pieces(file: BinaryIO, length: int) -> Iterator[bytes]:
    while length > 0 and (piece := file.read(min(length, _PIECE))):
        yield piece
        length -= len(piece)


def check_unchanged(inputs: Inputs, shard: Shard) -> None:
    """Refuse inputs that have become others since they were cut."""
    for part, known in zip(shard.ranges, shard.digests, strict=True):
        source = inputs.sources[part.file]
        if digest(source, part) != known:
            raise ZerotagError(f"{source.name} has changed since the plan was made: plan anew, into another folder")
