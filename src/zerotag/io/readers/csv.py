"""CSV with a header; the delimiter is a comma, a semicolon or a tab, as the header has it."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import dropwhile, islice
from operator import attrgetter

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.lines import BYTE_ORDER_MARK, Line, raw_lines
from zerotag.io.problems import shown
from zerotag.io.readers import ReaderSpec
from zerotag.io.rows import Record, Row, attempt, columns_of_table, from_record
from zerotag.io.sources import START, Position, Source
from zerotag.io.table_rows import TableRows

_DELIMITERS = (",", ";", "\t")
_MAX_ROW = 1 << 20  # bytes after the first line; Python's default for a field, 131,072, is less than some texts have


def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per row that is not blank."""
    with ExitStack() as opened:
        parser = _Parser(opened.enter_context(closing(raw_lines(source))), columns.text)
        if not parser.has_more():
            return
        header = [name.strip() for name in parser.row()]
        wanted = columns_of_table(parser.lines[0].where, header, columns, labelled=labelled)
        if start != START:
            parser.coming = opened.enter_context(closing(raw_lines(source, start)))

        def row(lines: Sequence[Line]) -> Row | None:
            cells = parser.row()
            if not cells:
                return None
            where = lines[0].where
            if len(cells) != len(header):
                raise ZerotagError(
                    f"{where}: the number of columns is {len(cells)}, in the header {len(header)}; "
                    f"put quotes around text with {shown(parser.delimiter)} in it"
                )
            values = dict(zip(header, cells, strict=True))
            return from_record(where, {name: values[name] for name in wanted}, columns, labelled=labelled)

        while parser.has_more():
            yield from attempt(parser.lines, row)


def table(source: Source, columns: Columns) -> TableRows:
    """All rows that are not blank, with the cells of those that have as many as the header."""
    with closing(raw_lines(source)) as lines:
        parser = _Parser(lines, columns.text)
        header = tuple(name.strip() for name in parser.row()) if parser.has_more() else ()
        marked = any(line.raw.startswith(BYTE_ORDER_MARK) for line in parser.lines)

    def rows() -> Iterator[tuple[int, list[str] | None]]:
        with closing(raw_lines(source)) as again:
            parser = _Parser(again, columns.text)
            parser.row()
            while parser.has_more():
                cells = None
                with suppress(ZerotagError):  # which records tells
                    cells = parser.row()
                if cells != []:
                    yield parser.lines[0].number, cells if cells and len(cells) == len(header) else None

    return TableRows(header, rows(), delimiter=parser.delimiter, byte_order_mark=marked)


class _Parser:
    """Rows of lines by the parser of the standard library, and the lines that make up a row.

    After a row that is no CSV it goes on with the line after the first of that row: a quote that was never closed
    takes no other row with it. How an open quote fares in the lines ahead is found out once for all rows that begin
    before them, or many such quotes would take quadratic time.
    """

    def __init__(self, lines: Iterator[Line], text_column: str) -> None:
        self.lines: list[Line] = []
        self.coming: Iterator[Line] = dropwhile(attrgetter("is_blank"), lines)
        self._ahead: deque[Line] = deque()
        self._inside = 0  # so many of the lines ahead, from the first on, leave a quote open that is open before them
        self._after_them: csv.Error | ZerotagError | bool | None = (
            None  # what the line after those does to it, if known
        )
        self.delimiter = ","
        self.delimiter = _delimiter(self._ahead[0].text if self.has_more() else "", text_column)

    def has_more(self) -> bool:
        """Whether there is another line."""
        if not self._ahead:
            self._ahead.extend(islice(self.coming, 1))
        return bool(self._ahead)

    def row(self) -> list[str]:
        """The cells of the next row, none if it is blank; `lines` are those it consists of."""
        self.lines[:] = [self._ahead.popleft()]
        if self._inside:
            self._inside -= 1
        else:
            self._after_them = None
        first = self.lines[0]
        try:
            cells = self._cells(first.text)
            if cells is None:
                self.lines += self._rest_of_row(first)
                cells = self._cells(*(line.text for line in self.lines))
        except csv.Error as error:
            raise ZerotagError(f"{first.where}: not valid CSV ({error}); see its quotes and line ends") from None
        return cells or []

    def _cells(self, *texts: str) -> list[str] | None:
        """The cells in some lines, or None if a quote is still open after them."""
        asked_for_more = False

        def each() -> Iterator[str]:
            nonlocal asked_for_more
            yield from texts
            asked_for_more = True

        limit = csv.field_size_limit(_MAX_ROW)  # it is the whole process's: ours only while we parse
        try:
            return next(csv.reader(each(), delimiter=self.delimiter, strict=True))
        except csv.Error:
            if asked_for_more:
                return None
            raise
        finally:
            csv.field_size_limit(limit)

    def _rest_of_row(self, first: Line) -> list[Line]:
        """The lines up to the one that closes a quote which is open after the first."""
        while (closed := self._closes_quote(first)) is not True:
            if closed is not False:
                raise closed
            self._inside += 1
            self._after_them = None
        count = self._inside + 1
        self._inside, self._after_them = 0, None
        return [self._ahead.popleft() for _ in range(count)]

    def _closes_quote(self, first: Line) -> csv.Error | ZerotagError | bool:
        """Whether the next line that nobody has looked at closes a quote, or what is wrong then."""
        if self._inside == len(self._ahead):
            self._ahead.extend(islice(self.coming, 1))
            if self._inside == len(self._ahead):
                return csv.Error("unexpected end of data")
        line = self._ahead[self._inside]
        if line.end.offset - first.end.offset > _MAX_ROW:
            return csv.Error(f"a quote that is not closed within {_MAX_ROW >> 20} MiB")
        if self._after_them is None:
            try:
                self._after_them = self._cells('"', line.text) is not None
            except (csv.Error, ZerotagError) as error:
                self._after_them = error
        return self._after_them


def _delimiter(header: str, text_column: str) -> str:
    for delimiter in _DELIMITERS:
        if text_column in (name.strip(' "\t\r\n') for name in header.split(delimiter)):
            return delimiter
    return max(_DELIMITERS, key=header.count)


READER = ReaderSpec(records=records, table=table, suffixes=(".csv",))
