"""The registry of input formats: one module and one entry per format, of this package or of others.

A reader is a function that makes records of a source. With its `ReaderSpec` registered, every command, `zerotag.read`
and `zerotag.train` take files of its suffixes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.problems import listed, shown
from zerotag.io.rows import Record
from zerotag.io.sources import Position, Source
from zerotag.io.table_rows import TableRows
from zerotag.registry import Registry

STANDARD_INPUT = "text"
"""The format of what comes without a name."""


class ReadRecords(Protocol):
    """A function that makes the records of a source."""

    def __call__(self, source: Source, columns: Columns, start: Position, /, *, labelled: bool) -> Iterator[Record]:
        """Records from a position on; labels are looked for, and needed, only if `labelled`."""


class RowGroup(NamedTuple):
    """Rows that are read together: how many rows are before them, and how many bytes of the file."""

    row: int
    byte: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSpec:
    """An input format as the registry has it."""

    records: ReadRecords

    suffixes: tuple[str, ...]
    """How files of the format end, in lower case and with the point; if none, only --input-format asks for it."""

    table: Callable[[Source, Columns], TableRows] | None = None
    """All cells of a file whose records are rows of a table. None: there is nothing but sentences."""

    class_names: Callable[[Source, str], tuple[str, ...] | None] | None = None
    """What the numbers in a column mean, if the file says so. None: no file of the format does."""

    by_line: bool = False
    """Whether each line is a record by itself, so that several processes can read parts of a file."""

    row_groups: Callable[[Source], list[RowGroup]] | None = None
    """Where the row groups of a file begin, if positions in it are rows. None: they are bytes."""


def read_whole(_: Source) -> list[RowGroup]:
    """The row groups of formats whose files are read as a whole: one."""
    return [RowGroup(0, 0)]


READERS: Registry[ReaderSpec] = Registry(
    "reader",
    {
        "tsv": "zerotag.io.readers.tsv:READER",
        "conll": "zerotag.io.readers.conll:READER",
        "csv": "zerotag.io.readers.csv:READER",
        "jsonl": "zerotag.io.readers.jsonl:READER",
        "json": "zerotag.io.readers.json:READER",
        "parquet": "zerotag.io.readers.parquet:READER",
        "xlsx": "zerotag.io.readers.xlsx:READER",
        "m2": "zerotag.io.readers.m2:READER",
        "text": "zerotag.io.readers.text:READER",
        "labelstudio": "zerotag.io.annotation.labelstudio:READER",
        "doccano": "zerotag.io.annotation.doccano:READER",
        "argilla": "zerotag.io.annotation.argilla:READER",
        "prodigy": "zerotag.io.annotation.prodigy:READER",
    },
)


def reader_for(source: Source, columns: Columns) -> ReaderSpec:
    """The reader of a source: of the format that was asked for, else of the one that its suffix tells."""
    if columns.format is not None:
        if columns.format not in READERS:
            raise ZerotagError(f"unknown format {shown(columns.format)}; the formats are {listed(READERS.names())}")
        return READERS.get(columns.format)
    if source.path is None:
        return READERS.get(STANDARD_INPUT)
    suffix = source.unpacked_name.suffix.lower()
    known: list[str] = []
    for name in READERS.names():
        spec = READERS.get(name)
        if suffix in spec.suffixes:
            return spec
        known += spec.suffixes
    with source.opened():  # a file that is not there has a worse problem than its name
        pass
    raise ZerotagError(
        f"{source.name}: unknown suffix {shown(suffix)}; those known are {', '.join(known)}; "
        f"or say which format it is with --input-format: {', '.join(READERS.names())}"
    )
