"""CSV with a header; the delimiter is a comma, a semicolon or a tab, as the header has it."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import dropwhile, islice
from operator import attrgetter

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.lines import Line, raw_lines
from zerotag.io.problems import excerpt, missing_column, shown
from zerotag.io.rows import Record, Reject, Row, attempt, from_record
from zerotag.io.sources import START, Position, Source

_DELIMITERS = (",", ";", "\t")
_MAX_FIELD = 1 << 20  # characters; the default of 131,072 is less than some documents have


def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per row that is not blank."""
    with ExitStack() as opened:
        parser = _Parser(opened.enter_context(closing(raw_lines(source))), columns.text)
        if not parser.has_more():
            return
        header = [name.strip() for name in parser.row()]
        wanted = {columns.text: "--text-column"}
        if labelled:
            wanted |= dict.fromkeys(columns.labels, "--label-column")
        for name, option in wanted.items():
            _check_column(parser.lines[0].where, name, header, option)
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


def table_rows(source: Source) -> Iterator[tuple[int, list[str] | Reject]]:
    """Every row that is not blank with its line, the header first; for one that is no CSV, why it is none."""
    with closing(raw_lines(source)) as lines:
        parser = _Parser(lines, "")
        while parser.has_more():
            try:
                cells: list[str] | Reject = parser.row()
            except ZerotagError as error:
                cells = Reject(str(error), excerpt(b"".join(line.raw for line in parser.lines)))
            if cells:
                yield parser.lines[0].number, cells


class _Parser(Iterator[str]):
    """The parser of the standard library, which it feeds with lines, and which lines make up a row.

    After a row that is no CSV it goes on with the line after the first of that row: a quote that was never closed
    takes no other row with it.
    """

    def __init__(self, lines: Iterator[Line], text_column: str) -> None:
        self.lines: list[Line] = []
        self.coming: Iterator[Line] = dropwhile(attrgetter("is_blank"), lines)
        self._to_parse: deque[Line] = deque()
        self.delimiter = _delimiter(self._to_parse[0].text if self.has_more() else "", text_column)
        self._rows = csv.reader(self, delimiter=self.delimiter, strict=True)

    def __next__(self) -> str:
        if not self.has_more():
            raise StopIteration
        self.lines.append(self._to_parse.popleft())
        return self.lines[-1].text

    def has_more(self) -> bool:
        """Whether there is another line."""
        if not self._to_parse:
            self._to_parse.extend(islice(self.coming, 1))
        return bool(self._to_parse)

    def row(self) -> list[str]:
        """The cells of the next row, none if it is blank; `lines` are those it consists of."""
        self.lines.clear()
        limit = csv.field_size_limit(_MAX_FIELD)  # it is the whole process's: ours only while we parse
        try:
            return next(self._rows, [])
        except (csv.Error, ZerotagError) as error:
            first = self.lines[0]
            self._to_parse.extendleft(reversed(self.lines[1:]))
            del self.lines[1:]
            if isinstance(error, ZerotagError):
                raise
            raise ZerotagError(f"{first.where}: not valid CSV ({error}); see its quotes and line ends") from None
        finally:
            csv.field_size_limit(limit)


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
