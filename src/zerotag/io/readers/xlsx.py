"""Excel and LibreOffice workbooks: the first sheet that has something, a header and a row for each sentence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.extras import needed
from zerotag.io.columns import Columns
from zerotag.io.readers import ReaderSpec, read_whole
from zerotag.io.rows import Record, columns_of_table, row_or_reject
from zerotag.io.sources import Position, Source
from zerotag.io.table_rows import TableRows, as_text

_MOST_UNPACKED = 1 << 30  # bytes; more is no workbook
_Cells = list[Any]


def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per row below the header that has a cell with something in it."""
    _, names, rows = _sheet(source)
    wanted = columns_of_table(source.name, names, columns, labelled=labelled)
    last = rows[-1][0] if rows else 1
    source.share_is(lambda: number / last)
    for number, cells in rows:
        if number > start.line:
            values = {name: cells[names.index(name)] for name in wanted}
            values[columns.text] = as_text(values[columns.text])
            content = row_or_reject(f"{source.name}: row {number}", values, columns, labelled=labelled)
            yield Record(number, Position(number, number), content)


def _sheet(source: Source) -> tuple[int, list[str], list[tuple[int, _Cells]]]:
    """The row of the header, the names in it, and the rows below; their numbers are those that Excel shows."""
    calamine = needed(f"{source.name}, a workbook,", "excel", "python_calamine")
    if source.path is None:
        raise ZerotagError(f"{source.name}: a workbook cannot be read from there; give a file")
    with source.opened_for_jumps(_MOST_UNPACKED) as file:
        try:
            book = calamine.CalamineWorkbook.from_filelike(file)
            sheets = map(partial(_rows, book), book.sheet_names)
            (top, header), *rows = next((rows for rows in sheets if rows), [(0, [])])
        except calamine.CalamineError as error:
            raise ZerotagError(f"{source.name}: not a readable workbook ({error}); save it again as .xlsx") from None
    return top, [as_text(name).strip() for name in header], rows


def _rows(book: Any, name: str) -> list[tuple[int, _Cells]]:
    """The rows of a sheet that are not blank, from the first on."""
    sheet = book.get_sheet_by_name(name)
    rows = enumerate(sheet.to_python(skip_empty_area=False), 1)
    return [(number, [*map(_value, cells)]) for number, cells in rows if any(cell != "" for cell in cells)]


def _value(cell: Any) -> Any:
    """A cell; workbooks have no whole numbers, and nothing in empty cells."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    return None if cell == "" else cell


def table(source: Source, _columns: Columns) -> TableRows:
    """All cells below the header."""
    top, names, rows = _sheet(source)
    kinds: dict[str, set[type]] = {
        name: {type(cells[k]) for _, cells in rows if cells[k] is not None} for k, name in enumerate(names)
    }
    cells_of = dict(rows)
    all_rows = ((number, cells_of.get(number)) for number in range(top + 1, max(cells_of, default=top) + 1))
    return TableRows(tuple(names), all_rows, kinds)


READER = ReaderSpec(records=records, suffixes=(".xlsx", ".xls", ".xlsb", ".ods"), table=table, row_groups=read_whole)
