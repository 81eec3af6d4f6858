"""`word<TAB>label` lines with blank lines between sentences: the word comes first, its label last."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from zerotag.data.columns import Columns
from zerotag.data.lines import lines, without_end
from zerotag.data.problems import shown
from zerotag.data.rows import Cell, Row, check_word
from zerotag.errors import ZerotagError
from zerotag.types import Sentence

_YES = "positive"  # what a 1 means here, where no column has a name
_SEVERAL = "|"  # between the names in a cell of several labels


def rows(path: Path | None, _columns: Columns, *, labelled: bool) -> Iterator[Row]:
    """A row per sentence; without labels one column is enough."""
    numbered = ((where, without_end(line)) for where, line in lines(path))
    for blank, group in groupby(numbered, key=_is_blank):
        if not blank:
            yield _row(list(group), labelled)


def _is_blank(line: tuple[str, str]) -> bool:
    # Only these two: other white space, such as a no-break space, can be a word.
    return not line[1].strip(" \t")


def _row(group: list[tuple[str, str]], labelled: bool) -> Row:
    words = []
    cells = []
    for where, line in group:
        if "\r" in line:
            raise ZerotagError(f"{where}: a carriage return inside the line; end lines with a line feed")
        columns = line.split("\t")
        check_word(where, columns[0])
        words.append(columns[0])
        if labelled:
            cells.append((_cell(where, columns),))
    return Row(group[0][0], Sentence.from_words(words), word_labels=tuple(cells))


def _cell(where: str, columns: list[str]) -> Cell:
    if len(columns) < 2:
        raise ZerotagError(f"{where}: {shown(columns[0])} has no label; write word, tab, label")
    value = columns[-1]
    return Cell(where, value.split(_SEVERAL) if _SEVERAL in value else value, _YES)
