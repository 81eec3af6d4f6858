"""CoNLL files: a word in each line and its label last, parted by spaces or tabs, with comments and document lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from zerotag.io.columns import Columns
from zerotag.io.lines import Line, paragraphs
from zerotag.io.readers import ReaderSpec
from zerotag.io.readers.tsv import row_of
from zerotag.io.rows import Record, attempt
from zerotag.io.sources import Position, Source

_NO_WORD = re.compile(rb"-DOCSTART-\s|#\s*(?:[\w.]+\s*=|id\s)")  # a new document; `# key = value` and `# id 7`


def records(source: Source, _columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per sentence; without labels one column is enough."""
    make = partial(row_of, split=_cells, labelled=labelled)
    for lines in paragraphs(source, start):
        words = [line for line in lines if not _is_comment(line)]
        if words:
            yield from attempt(words, make)


def _is_comment(line: Line) -> bool:
    return _NO_WORD.match(line.raw) is not None or line.raw.strip() == b"-DOCSTART-"


def _cells(line: str) -> list[str]:
    """Where there are tabs, a word may have spaces in it."""
    return line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]


READER = ReaderSpec(records=records, suffixes=(".conll", ".iob", ".iob2", ".bio"))
