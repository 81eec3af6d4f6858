"""CSV with a header; the delimiter is a comma, a semicolon or a tab, as the header has it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from zerotag.data.columns import Columns
from zerotag.data.lines import lines, name_of
from zerotag.data.problems import missing_column, shown
from zerotag.data.rows import Row, from_record
from zerotag.errors import ZerotagError

_DELIMITERS = (",", ";", "\t")
_MAX_FIELD = 10_000_000  # characters; the default of 131,072 is less than some documents have


def rows(path: Path | None, columns: Columns, *, labelled: bool) -> Iterator[Row]:
    """A row per record."""
    source = (line for _, line in lines(path))
    first = next(source, "")
    delimiter = _delimiter(first, columns.text)
    records = _records(chain([first], source), delimiter, name_of(path))
    where, header = next(records, ("", []))
    if not header:
        return
    header = [name.strip() for name in header]
    wanted = {columns.text: "--text-column"}
    if labelled:
        wanted |= dict.fromkeys(columns.labels, "--label-column")
    for name, option in wanted.items():
        _check_column(where, name, header, option)
    for where, record in records:
        if len(record) != len(header):
            raise ZerotagError(
                f"{where}: the number of columns is {len(record)}, in the header {len(header)}; "
                f"put quotes around text with {shown(delimiter)} in it"
            )
        cells = dict(zip(header, record, strict=True))
        yield from_record(where, {name: cells[name] for name in wanted}, columns, labelled=labelled)


def _check_column(where: str, name: str, header: list[str], option: str) -> None:
    if name not in header:
        raise missing_column(where, name, header, option)
    if header.count(name) > 1:
        raise ZerotagError(f"{where}: {header.count(name)} columns are called {shown(name)}; rename all but one")


def _delimiter(header: str, text_column: str) -> str:
    for delimiter in _DELIMITERS:
        if text_column in (name.strip(' "\t\r\n') for name in header.split(delimiter)):
            return delimiter
    return max(_DELIMITERS, key=header.count)


def _records(source: Iterable[str], delimiter: str, name: str) -> Iterator[tuple[str, list[str]]]:
    """The records that are not blank, each with the file and line where it starts."""
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    while True:
        where = f"{name}:{reader.line_num + 1}"
        limit = csv.field_size_limit(_MAX_FIELD)  # it is the whole process's: ours only while we parse
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise ZerotagError(f"{where}: not valid CSV ({error}); see its quotes and line ends") from None
        finally:
            csv.field_size_limit(limit)
        if record is None:
            return
        if record:
            yield where, record
