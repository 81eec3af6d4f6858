"""Plain text, one sentence per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.lines import Line, raw_lines, without_end
from zerotag.io.readers import ReaderSpec
from zerotag.io.rows import Record, Row, attempt, checked
from zerotag.io.sources import Position, Source


def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per line; lines without words only part paragraphs and are passed over."""
    if labelled:
        raise ZerotagError(f"{source.name}: plain text has no labels; give a tsv, csv, jsonl or parquet file")
    for line in raw_lines(source, start):
        yield from attempt([line], partial(_row, columns))


def _row(columns: Columns, lines: Sequence[Line]) -> Row | None:
    (line,) = lines
    sentence = columns.split(without_end(line.text))
    return Row(line.where, checked(line.where, sentence)) if sentence.words else None


READER = ReaderSpec(records=records, suffixes=(".txt",), by_line=True)
