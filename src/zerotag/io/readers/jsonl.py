"""JSON Lines: one object per line with a text or its words, labels, and for evaluation word labels or spans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.json_values import check_characters, is_deeper
from zerotag.io.lines import Line, raw_lines, without_end
from zerotag.io.problems import shown
from zerotag.io.readers import ReaderSpec
from zerotag.io.rows import Record, Row, attempt, from_record
from zerotag.io.sources import Position, Source
from zerotag.io.table_rows import TableRows, rows_of_objects

_DEEPEST = 200  # levels of objects and lists; spans in a record are the third, a parse tree may have dozens


def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per line that is not blank."""
    make = partial(_row, columns=columns, labelled=labelled)
    for line in raw_lines(source, start):
        yield from attempt([line], make)


def _row(lines: Sequence[Line], *, columns: Columns, labelled: bool) -> Row | None:
    (line,) = lines
    text = without_end(line.text)
    return from_record(line.where, values(line.where, text), columns, labelled=labelled) if text.strip() else None


def values(where: str, line: str) -> dict[str, object]:
    """The object that a line holds."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ZerotagError(f"{where}: not valid JSON ({error}): {shown(line)}; write one object per line") from None
    if not isinstance(record, dict):
        raise ZerotagError(f"{where}: {shown(line)} is not a JSON object; write one object per line")
    # What is nearly too deep for the parser is too deep for whatever comes after it.
    if line.count("[") + line.count("{") > _DEEPEST and is_deeper(record, _DEEPEST):
        raise ZerotagError(f"{where}: JSON of more than {_DEEPEST} levels; write text, labels and spans alone")
    if "\\ud" in line.lower():
        check_characters(where, record)
    return record


def table(source: Source, _columns: Columns) -> TableRows:
    """All fields of all lines that are objects."""

    def objects() -> Iterator[tuple[int, dict[str, object] | None]]:
        for line in raw_lines(source):
            if line.is_blank:
                continue
            found = None
            with suppress(ZerotagError):  # which records tells
                found = values(line.where, without_end(line.text))
            yield line.number, found

    return rows_of_objects(objects)


READER = ReaderSpec(records=records, suffixes=(".jsonl", ".ndjson"), table=table, by_line=True)
