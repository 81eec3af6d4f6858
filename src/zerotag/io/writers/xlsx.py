"""The input's table as an Excel workbook, with the columns of the results: texts stay texts, `=1+1` too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io.table_rows import as_text
from zerotag.io.writers import TableHead, WriterSpec

MAX_ROWS = 1_048_576  # the header is one of them
MAX_COLUMNS = 16_384
MAX_CHARACTERS = 32_767  # of a cell, as UTF-16 counts them
_EXACT = 2**53  # from which on a workbook's numbers are not exact
_FORMATS = {datetime: "yyyy-mm-dd hh:mm:ss", date: "yyyy-mm-dd", time: "hh:mm:ss"}


def write_table(target: Path, head: TableHead, rows: Iterable[Sequence[Any]]) -> None:
    """A sheet with a header in bold, row by row in little memory."""
    import xlsxwriter

    book = xlsxwriter.Workbook(str(target), {"constant_memory": True, "in_memory": False})
    formats = {kind: book.add_format({"num_format": form}) for kind, form in _FORMATS.items()}
    sheet = book.add_worksheet("zerotag")
    for column, name in enumerate(head.names):
        sheet.write_string(0, column, name, book.add_format({"bold": True}))
    for number, row in enumerate(rows, 1):
        for column, value in enumerate(row):
            if isinstance(value, bool):
                sheet.write_boolean(number, column, value)
            elif isinstance(value, int | float) and math.isfinite(value) and abs(value) <= _EXACT:
                sheet.write_number(number, column, value)
            elif type(value) in formats:
                sheet.write_datetime(number, column, value, formats[type(value)])
            elif value is not None and (text := as_text(value)):
                sheet.write_string(number, column, _fitting(text))
    book.close()


def check_cells(where: str, line: int, cells: Iterable[Any]) -> None:
    """Refuse a row with a cell that a workbook has no room for."""
    for cell in cells:
        if isinstance(cell, str | list | dict) and (size := _size(as_text(cell))) > MAX_CHARACTERS:
            raise ZerotagError(
                f"{where}: row {line} has a cell of {size:,} characters; Excel has room for {MAX_CHARACTERS:,}: "
                "write .csv or .parquet"
            )


def _fitting(text: str) -> str:
    """A text, or what to do about it: only the spans of a very long text can be too long by now."""
    return text if _size(text) <= MAX_CHARACTERS else "too long for Excel: see the same table as .csv or .parquet"


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


WRITER = WriterSpec(suffix=".xlsx", table=write_table)
