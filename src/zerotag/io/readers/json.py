"""JSON: one list of objects, with the fields of JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.json_values import check_characters
from zerotag.io.problems import excerpt, shown
from zerotag.io.readers import ReaderSpec, read_whole
from zerotag.io.rows import Record, Reject, Row, from_record
from zerotag.io.sources import Position, Source
from zerotag.io.table_rows import TableRows, rows_of_objects


def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per object of the list."""
    for number, one in enumerate(load(source)[start.line :], start.line + 1):
        yield Record(number, Position(number, number), _content(f"{source.name}:{number}", one, columns, labelled))


def load(source: Source) -> list[object]:
    """The list that a file holds."""
    with source.opened() as file:
        try:
            document = json.loads(file.read().decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise ZerotagError(f"{source.name}: not valid JSON ({error}); mend it, or name JSON lines .jsonl") from None
    if not isinstance(document, list):
        raise ZerotagError(f"{source.name}: {shown(document)} is not a list of objects; put [ ] around them")
    return document


def _content(where: str, one: object, columns: Columns, labelled: bool) -> Row | Reject:
    begins = excerpt(json.dumps(one, ensure_ascii=False).encode("utf-8", "backslashreplace"))
    try:
        if not isinstance(one, dict):
            raise ZerotagError(f"{where}: {shown(one)} is not an object; write one with the text and the label")
        check_characters(where, one)
        return from_record(where, one, columns, labelled=labelled)
    except ZerotagError as error:
        return Reject(str(error), begins)


def table(source: Source, _columns: Columns) -> TableRows:
    """All fields of all objects."""
    listed = [(number, one if isinstance(one, dict) else None) for number, one in enumerate(load(source), 1)]
    return rows_of_objects(lambda: listed)


READER = ReaderSpec(records=records, suffixes=(".json",), table=table, row_groups=read_whole)
