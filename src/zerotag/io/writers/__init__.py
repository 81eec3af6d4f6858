"""The registry of output formats: one module and one entry per format, of this package or of others.

A writer makes text of results, sentence by sentence. One whose sentences do not depend on one another can be appended
to: it is written chunk by chunk by several processes, and goes on after a kill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from zerotag.io.writers.style import Renderer, Style, decided
from zerotag.registry import Registry
from zerotag.types import Scored

if TYPE_CHECKING:
    import pyarrow as pa


class Origin(NamedTuple):
    """Where a sentence comes from: the file, and the line where it starts."""

    source: str
    line: int


Encode = Callable[[Sequence[Scored], Style, Sequence[Origin] | None], bytes]
"""Makes the bytes of a chunk of results, one or more, with the origin of each if it is to be told."""


def encode_with(render: Renderer) -> Encode:
    """What makes the bytes of a chunk by a renderer, which writes a sentence whatever was written before it."""

    def encode(scored: Sequence[Scored], style: Style, _: Sequence[Origin] | None) -> bytes:
        return "".join(render(decided(scored, style), style)).encode()

    return encode


class TableHead(NamedTuple):
    """What is known of a table before its rows."""

    names: Sequence[str]
    schema: pa.Schema | None
    """The types of the columns, for formats that have types."""

    delimiter: str
    """Between the cells of a CSV file."""

    byte_order_mark: bool
    """Whether a CSV file begins with one, by which Excel knows UTF-8."""

    packing: str
    """.gz, .zst, or nothing."""


WriteTable = Callable[[Path, TableHead, Iterable[Sequence[Any]]], None]
"""Writes a table to a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterSpec:
    """An output format as the registry has it: `render`, `encode`, `table`, or several of them."""

    suffix: str | None
    """How files of the format end, in lower case and with the point. None: only --format asks for it."""

    render: Renderer | None = None
    """Makes text of results. None: the format is not text."""

    encode: Encode | None = None
    """Makes the bytes of a chunk, which depend on no other chunk. None: they do, and half a file cannot be taken up."""

    begin: Callable[[Style, bool], bytes] = lambda *_: b""
    """What comes before the first chunk, told the style and whether origins are told."""

    assemble: Callable[[Path, Path], None] | None = None
    """Makes the file of all the bytes, from one path to another. None: they are the file."""

    join: Callable[[Sequence[Callable[[], BinaryIO]], Path], None] | None = None
    """Makes one file of several, if their bytes cannot simply follow one another."""

    table: WriteTable | None = None
    """Writes the input's table with the columns of the results. None: it cannot hold one."""

    def __post_init__(self) -> None:
        if self.render is None and self.encode is None and self.table is None:
            raise TypeError("a writer needs render, encode or table")


WRITERS: Registry[WriterSpec] = Registry(
    "writer",
    {
        "jsonl": "zerotag.io.writers.jsonl:WRITER",
        "tsv": "zerotag.io.writers.tsv:WRITER",
        "html": "zerotag.render.html:WRITER",
        "text": "zerotag.render.terminal:WRITER",
        "parquet": "zerotag.io.writers.parquet:WRITER",
        "csv": "zerotag.io.writers.csv:WRITER",
        "xlsx": "zerotag.io.writers.xlsx:WRITER",
        "labelstudio": "zerotag.io.annotation.labelstudio:WRITER",
        "doccano": "zerotag.io.annotation.doccano:WRITER",
        "argilla": "zerotag.io.annotation.argilla:WRITER",
        "prodigy": "zerotag.io.annotation.prodigy:WRITER",
    },
)
