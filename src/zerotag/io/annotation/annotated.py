"""What the formats of annotation tools share: JSON objects that become records with a text, a label and spans.

All of these tools count characters as Python does, by code points, so that offsets are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.json_values import check_characters
from zerotag.io.lines import Line, raw_lines, without_end
from zerotag.io.problems import excerpt, shown
from zerotag.io.readers import ReaderSpec, ReadRecords, read_whole
from zerotag.io.readers.json import load
from zerotag.io.readers.jsonl import values
from zerotag.io.rows import Record, Reject, Row, attempt, from_record
from zerotag.io.sources import Position, Source

Object = Mapping[str, Any]
Convert = Callable[[Object, str], dict[str, Any] | None]
"""Makes a record with `text`, `label` and `spans` of a tool's object, told the column of the text; None: there is no
annotation yet."""


def list_reader(convert: Convert) -> ReaderSpec:
    """The reader of a tool that writes a list of objects."""

    def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
        for number, one in enumerate(load(source)[start.line :], start.line + 1):
            where = f"{source.name}:{number}"
            try:
                if not isinstance(one, dict):
                    raise ZerotagError(f"{where}: {shown(one)} is not an object")
                check_characters(where, one)
                row: Row | Reject | None = _row(where, one, convert, columns, labelled)
            except ZerotagError as error:
                row = Reject(str(error), excerpt(str(one).encode("utf-8", "backslashreplace")))
            if row is not None:
                yield Record(number, Position(number, number), row)

    return ReaderSpec(records=_with_annotations(records), suffixes=(), row_groups=read_whole)


def line_reader(convert: Convert) -> ReaderSpec:
    """The reader of a tool that writes an object in each line."""

    def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
        def row(lines: Sequence[Line]) -> Row | None:
            (line,) = lines
            text = without_end(line.text)
            if not text.strip():
                return None
            return _row(line.where, values(line.where, text), convert, columns, labelled)

        for line in raw_lines(source, start):
            yield from attempt([line], row)

    return ReaderSpec(records=_with_annotations(records), suffixes=(), by_line=True)


def _with_annotations(read: ReadRecords) -> ReadRecords:
    """Records of which some are annotated, where labels are asked for."""

    def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
        found = None
        for found in read(source, columns, start, labelled=labelled):
            yield found
        if found is None and labelled:
            raise ZerotagError(f"{source.name}: no sentence in it that somebody has annotated; give a later export")

    return records


def _row(where: str, one: Object, convert: Convert, columns: Columns, labelled: bool) -> Row | None:
    try:
        found = convert(one, columns.text)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ZerotagError(f"{where}: not as the tool writes it ({reason}): {shown(str(one))}") from None
    if labelled and found is not None and "spans" not in found and "label" not in found:
        found = None
    if found is None:
        return None
    return from_record(where, found, replace(columns, text="text", labels=("label",)), labelled=labelled)


def spans_of(items: Sequence[Any]) -> list[dict[str, Any]]:
    """Spans that are written as [start, end, label] or as objects, whose offsets may be called start_offset."""
    found = []
    for item in items:
        if isinstance(item, Mapping):
            start, end = item.get("start", item.get("start_offset")), item.get("end", item.get("end_offset"))
            found.append({"start": start, "end": end, "label": item["label"]})
        else:
            start, end, label = item
            found.append({"start": start, "end": end, "label": label})
    return found
