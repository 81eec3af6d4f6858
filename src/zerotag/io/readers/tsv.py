"""`word<TAB>label` lines with blank lines between sentences: the word comes first, its label last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.lines import Line, paragraphs, without_end
from zerotag.io.problems import listed, shown
from zerotag.io.readers import ReaderSpec
from zerotag.io.rows import Cell, Record, Row, attempt, check_word
from zerotag.io.sources import Position, Source
from zerotag.types import Sentence

_SPACES_OF_A_SENTENCE = 3
_YES = "positive"  # what a 1 means here, where no column has a name


def records(source: Source, columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per sentence; without labels one column is enough."""
    for lines in paragraphs(source, start):
        if lines[0].number == 1:
            _refuse_table(lines[0], columns)
        yield from attempt(lines, partial(row_of, split=_cells, labelled=labelled))


def _refuse_table(first: Line, columns: Columns) -> None:
    """Spreadsheets call something else a .tsv: a row for each sentence, below the names of the columns."""
    names = without_end(first.raw.decode(errors="replace")).removeprefix("\ufeff").split("\t")
    if columns.text in names[1:] or (columns.text == names[0] and set(columns.labels) & set(names)):
        raise ZerotagError(
            f"{first.where}: the columns {listed(names)} of a table; a .tsv has a word and its label in each line, "
            "and a blank line after each sentence; say that it is a table with --input-format csv"
        )
    if names[0].count(" ") >= _SPACES_OF_A_SENTENCE:
        raise ZerotagError(
            f"{first.where}: {shown(names[0])} is a sentence; a .tsv has a word and its label in each line, and "
            "a blank line after each sentence; for a sentence in each line, name the columns in a first one, such as "
            "text<TAB>label, and say that it is a table with --input-format csv"
        )


def row_of(lines: Sequence[Line], *, split: Callable[[str], list[str]], labelled: bool) -> Row:
    """A sentence with a word in each line, which `split` parts into columns: the word, others, the label."""
    words = []
    cells = []
    for line in lines:
        text = without_end(line.text)
        if "\r" in text:
            raise ZerotagError(f"{line.where}: a carriage return inside the line; end lines with a line feed")
        columns = split(text)
        check_word(line.where, columns[0])
        words.append(columns[0])
        if labelled:
            cells.append((_cell(line.where, columns),))
    return Row(lines[0].where, Sentence.from_words(words), word_labels=tuple(cells))


def _cells(line: str) -> list[str]:
    return line.split("\t")


def _cell(where: str, columns: list[str]) -> Cell:
    if len(columns) < 2:
        raise ZerotagError(f"{where}: {shown(columns[0])} has no label; write word, tab, label")
    return Cell(where, columns[-1], _YES)


READER = ReaderSpec(records=records, suffixes=(".tsv",))
