"""Parquet, batch by batch and only the columns that are needed; they are named as in JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.problems import excerpt
from zerotag.io.readers import ReaderSpec, RowGroup
from zerotag.io.rows import SPANS, WORD_LABELS, WORDS, Record, Reject, Row, check_columns, row_or_reject
from zerotag.io.sources import Position, Source
from zerotag.io.table_rows import TableRows
from zerotag.io.tables import class_names_of

_BATCH = 100  # rows; few, since each may have the same text of a megabyte, which the file has but once
MOST_UNPACKED = 1 << 30  # bytes of a packed file
_UNREADABLE = (ValueError, ArithmeticError, LookupError)  # from bytes that are no text, dates that Python does not know
_Values = Mapping[str, object] | Exception


def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per row."""
    for number, values in enumerate(_rows(source, columns, start.line, labelled), start.line + 1):
        content = _content(f"{source.name}: row {number}", values, columns, labelled)
        yield Record(number, Position(number, number), content)


def _content(where: str, values: _Values, columns: Columns, labelled: bool) -> Row | Reject:
    if isinstance(values, UnicodeDecodeError):
        byte = f"byte {values.object[values.start]:#04x} at position {values.start + 1}"
        return Reject(f"{where}: not UTF-8 ({byte}); write it again", excerpt(values.object))
    if isinstance(values, Exception):
        return Reject(f"{where}: a value that cannot be read ({values}); write texts and numbers", "")
    return row_or_reject(where, values, columns, labelled=labelled)


def _rows(source: Source, columns: Columns, skip: int, labelled: bool) -> Iterator[_Values]:
    """The rows after the first few as dictionaries, or what keeps one from being read."""
    wanted = {columns.text, WORDS} | ({*columns.labels, WORD_LABELS, SPANS} if labelled else set())
    with _opened(source) as table:
        existing = table.schema_arrow.names
        check_columns(source.name, existing, columns, labelled=labelled)
        groups, row = _groups_after(table.metadata, skip)
        source.share_is(lambda: row / (table.metadata.num_rows or 1))
        for batch in table.iter_batches(_BATCH, row_groups=groups, columns=[n for n in existing if n in wanted]):
            passed = min(max(0, skip - row), batch.num_rows)
            row += passed
            for values in _values(batch.slice(passed)):
                row += 1
                yield values


def row_groups(source: Source) -> list[RowGroup]:
    """Where the row groups of a file begin."""
    with _opened(source) as table:
        groups = [table.metadata.row_group(i) for i in range(table.metadata.num_row_groups)]
    rows_before = accumulate((group.num_rows for group in groups), initial=0)
    return [RowGroup(row, _first_byte(group)) for row, group in zip(rows_before, groups, strict=False)]


def _first_byte(group: Any) -> int:
    columns = [group.column(i) for i in range(group.num_columns)]
    return min(
        (offset for one in columns for offset in (one.dictionary_page_offset, one.data_page_offset) if offset),
        default=0,
    )


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    import pyarrow as pa  # here, because it is slow to load and few need it
    import pyarrow.parquet as pq

    if source.path is None:
        raise ZerotagError(f"{source.name}: Parquet cannot be read from there; give a file")
    with source.opened_for_jumps(MOST_UNPACKED) as file:
        try:
            yield pq.ParquetFile(file, pre_buffer=False)  # reading ahead would keep whole row groups in memory
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last of names of columns
            reason = str(error).splitlines()[0]
            raise ZerotagError(
                f"{source.name}: not a readable Parquet file ({reason}); write or fetch it again"
            ) from None


def _groups_after(metadata: Any, skip: int) -> tuple[list[int], int]:
    """The row groups that end after the rows to skip, and the rows before them."""
    ends = list(accumulate(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)))
    passed = [end for end in ends if end <= skip]
    return list(range(len(passed), len(ends))), max(passed, default=0)


def _values(batch: Any) -> Iterator[_Values]:
    try:
        found = batch.to_pylist()
    except _UNREADABLE:
        found = [_row_values(batch.slice(i, 1)) for i in range(batch.num_rows)]
    yield from found


def _row_values(row: Any) -> _Values:
    try:
        values: dict[str, object] = row.to_pylist()[0]
    except _UNREADABLE as error:
        return error
    return values


def table(source: Source, _columns: Columns) -> TableRows:
    """All columns, with their types."""
    with _opened(source) as file:
        schema = file.schema_arrow

    def rows() -> Iterator[tuple[int, list[object]]]:
        with _opened(source) as file:
            number = 0
            for batch in file.iter_batches(_BATCH):
                for values in _values(batch):
                    number += 1
                    if not isinstance(values, Exception):
                        yield number, [*values.values()]

    return TableRows(tuple(schema.names), rows(), schema=schema.remove_metadata())


def class_names(source: Source, name: str) -> tuple[str, ...] | None:
    """Those that `datasets` and the hub write into the metadata of a file."""
    with _opened(source) as file:
        return class_names_of(file.schema_arrow, name)


READER = ReaderSpec(
    table=table, records=records, suffixes=(".parquet",), row_groups=row_groups, class_names=class_names
)
