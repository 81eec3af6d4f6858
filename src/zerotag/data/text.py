"""Plain text, one sentence per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from zerotag.data.columns import Columns
from zerotag.data.lines import lines, name_of, without_end
from zerotag.data.rows import Row, checked
from zerotag.errors import ZerotagError
from zerotag.words import split


def rows(path: Path | None, _columns: Columns, *, labelled: bool) -> Iterator[Row]:
    """A row per line; lines without words only part paragraphs and are passed over."""
    if labelled:
        raise ZerotagError(f"{name_of(path)}: plain text has no labels; give a tsv, csv, jsonl or parquet file")
    for where, line in lines(path):
        sentence = split(without_end(line))
        if sentence.words:
            yield Row(where, checked(where, sentence))
