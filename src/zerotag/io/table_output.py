"""The input's table, every row and column of it, with the columns of the results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zerotag.errors import ZerotagError
from zerotag.extras import needed
from zerotag.io.added_columns import PREFIX, added_schema, added_values
from zerotag.io.columns import Columns
from zerotag.io.problems import shown
from zerotag.io.readers import reader_for
from zerotag.io.reading import records
from zerotag.io.rows import Reject
from zerotag.io.sources import Source
from zerotag.io.table_rows import TableRows, arrow_type
from zerotag.io.writers import WRITERS, TableHead
from zerotag.io.writers.xlsx import MAX_COLUMNS, MAX_ROWS, check_cells

if TYPE_CHECKING:
    import pyarrow as pa

_ROW, _SOURCE = f"{PREFIX}row", f"{PREFIX}source"
_OF_TEXT = ("csv", "xlsx")


@dataclass(frozen=True)
class TableOutput:
    """A table to be written once all sentences are labelled.

    Results wait as JSON lines with their origin, so that a run that was stopped goes on; then the inputs are read once
    more, and every row is written, with its result if it has one.
    """

    sources: tuple[Path, ...]
    columns: Columns
    format: str
    packing: str
    label_names: tuple[str, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns of all inputs, in their order."""
        return tuple(dict.fromkeys(name for path in self.sources for name in self._unique_names(path)))

    @cached_property
    def added(self) -> pa.Schema:
        """The columns to the right of them."""
        import pyarrow as pa

        place = [pa.field(_SOURCE, pa.string())] if len(self.sources) > 1 else []
        its_own = added_schema(self.label_names, of_documents=self.columns.split_sentences)
        return pa.schema([*place, pa.field(_ROW, pa.int64()), *its_own])

    def check(self) -> None:
        """Refuse before any work what could not be written after it."""
        for name in self.added.names:
            if name in self.names:
                raise ZerotagError(
                    f"{self.sources[0]}: there is a column {shown(name)} already; rename it or leave it out"
                )
        if self.format != "xlsx":
            return
        needed("a workbook", "excel", "xlsxwriter")
        columns = len(self.names) + len(self.added.names)
        if columns > MAX_COLUMNS:
            raise ZerotagError(f"{columns:,} columns are more than Excel's {MAX_COLUMNS:,}: write .csv or .parquet")
        rows = 1
        for path in self.sources:
            table = self._table(path)
            text = table.names.index(self.columns.text) if self.columns.split_sentences else None
            for line, cells in table.rows:
                if cells is None:
                    continue
                check_cells(str(path), line, cells)
                rows += 1 if text is None else self._sentences_in(cells[text])
        if rows > MAX_ROWS:
            raise ZerotagError(f"{rows:,} rows are more than Excel's {MAX_ROWS:,}: write .csv or .parquet")

    def _sentences_in(self, cell: Any) -> int:
        document = self.columns.split(cell if isinstance(cell, str) else "")
        return max(1, sum(1 for _ in self.columns.sentences(document)))

    def assemble(self, results: Path, target: Path) -> None:
        """Write the table, from the results of all its sentences."""
        write = WRITERS.get(self.format).table
        assert write is not None
        tables = [self._table(path) for path in self.sources]
        names = (*self.names, *self.added.names)
        schema = self._schema(tables) if self.format == "parquet" else None
        head = TableHead(names, schema, tables[0].delimiter, tables[0].byte_order_mark, self.packing)
        with results.open("rb") as file:
            write(target, head, self._rows(tables, map(json.loads, file)))

    def _rows(self, tables: Sequence[TableRows], results: Iterator[dict[str, Any]]) -> Iterator[list[Any]]:
        result = next(results, None)
        for path, table in zip(self.sources, tables, strict=True):
            places = [table.names.index(name) if name in table.names else None for name in self.names]
            for number, (line, cells) in enumerate(table.rows, 1):
                if cells is None:
                    continue
                its_own = []
                while result is not None and (result["source"], result["line"]) == (str(path), line):
                    its_own.append(result)
                    result = next(results, None)
                for one in its_own or (None,):
                    yield [
                        *(None if place is None else cells[place] for place in places),
                        *([str(path)] if len(tables) > 1 else []),
                        number,
                        *self._added_values(one),
                    ]
        assert result is None, "every result belongs to a row"

    def _added_values(self, result: dict[str, Any] | None) -> list[Any]:
        """The cells to the right; in spreadsheets the words are for reading, the spans for parsing."""
        *others, words, spans = added_values(result, self.label_names, of_documents=self.columns.split_sentences)
        if self.format in _OF_TEXT:
            return [*others, "; ".join(words or ()), spans or None]
        return [*others, words, spans]

    def _schema(self, tables: Sequence[TableRows]) -> pa.Schema:
        """The types of the columns; a text where inputs differ."""
        import pyarrow as pa

        fields = []
        for name in self.names:
            kinds = {
                table.schema.field(name).type if table.schema else arrow_type(set(table.kinds.get(name, ())))
                for table in tables
                if name in table.names
            }
            fields.append(pa.field(name, kinds.pop() if len(kinds) == 1 else pa.string()))
        return pa.schema([*fields, *self.added])

    def _unique_names(self, path: Path) -> Sequence[str]:
        names = self._table(path).names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ZerotagError(f"{path}: several columns are called {shown(twice)}; rename all but one")
        return names

    def _table(self, path: Path) -> TableRows:
        source = Source(path)
        table = reader_for(source, self.columns).table
        if table is not None:
            return table(source, self.columns)
        found = (
            (record.line, None if isinstance(record.content, Reject) else [record.content.sentence.text])
            for record in records(source, columns=self.columns)
        )
        return TableRows((self.columns.text,), found)


def is_table(sources: Sequence[Path], columns: Columns, output_format: str) -> bool:
    """Whether tables go in, or one comes out by its nature, so that people expect theirs back."""
    spec = WRITERS.get(output_format)
    if spec.table is None or spec.encode is None:
        return spec.table is not None
    formats = {columns.format or Source(path).unpacked_name.suffix.lower().removeprefix(".") for path in sources}
    return formats <= {"csv", "xlsx", "xls", "xlsb", "ods"}
