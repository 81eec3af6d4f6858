"""What every format yields: a sentence with its labels as they were written, and the place they came from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple, TypeGuard

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.lines import Line
from zerotag.io.problems import excerpt, missing_column, shown
from zerotag.io.sources import Position
from zerotag.types import Sentence

MAX_WORD = 1_000  # characters; what is longer is not a word but damage

_MOST_COVERED = (
    1_000_000  # words by the spans of a sentence: thousands of spans, each over thousands of words, are damage
)

# The columns of JSONL and Parquet that have fixed names.
WORDS = "words"
WORD_LABELS = "word_labels"
SPANS = "spans"


class Cell(NamedTuple):
    """A label as it was written, where that was, and the label that a plain "yes" means there, if just one does."""

    where: str
    value: object
    yes: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence as a file has it: cells for the sentence (none: it follows its words) and for each word."""

    where: str
    sentence: Sentence
    labels: tuple[Cell, ...] = ()
    word_labels: tuple[tuple[Cell, ...], ...] | None = None


class Reject(NamedTuple):
    """A record that cannot be used: why, and the beginning of what stands there."""

    reason: str
    excerpt: str


class Record(NamedTuple):
    """What a reader found: where it starts, where reading goes on after it, and a row or what is wrong with it."""

    line: int
    end: Position
    content: Row | Reject


def attempt(lines: Sequence[Line], make: Callable[[Sequence[Line]], Row | None]) -> Iterator[Record]:
    """The record that `make` finds in some lines, none if it returns None, a reject if it raises an error."""
    content: Row | Reject | None
    try:
        content = make(lines)
    except ZerotagError as error:
        content = Reject(str(error), excerpt(b"".join(line.raw for line in lines)))
    if content is not None:
        yield Record(lines[0].number, lines[-1].end, content)


def checked(where: str, sentence: Sentence) -> Sentence:
    """The sentence, if it has words and all of them can be used."""
    if not sentence.words:
        raise ZerotagError(f"{where}: an empty sentence: {shown(sentence.text)} has no words; remove the row")
    if not all(map(str.strip, sentence.words)) or max(map(len, sentence.words)) > MAX_WORD:  # else nothing is wrong
        for word in sentence.words:
            check_word(where, word)
    return sentence


def check_word(where: str, word: str) -> None:
    """Refuse words that are empty or absurdly long."""
    if not word.strip(" "):
        raise ZerotagError(f"{where}: an empty word; give every word at least one character")
    if len(word) > MAX_WORD:
        raise ZerotagError(
            f"{where}: a word of {len(word):,} characters; at most {MAX_WORD:,} are allowed; split or remove it"
        )


def check_columns(where: str, existing: Collection[str], columns: Columns, *, labelled: bool) -> None:
    """Refuse records without a text or words, or without any kind of labels if `labelled`."""
    if columns.text not in existing and WORDS not in existing:
        raise missing_column(where, columns.text, existing, "--text-column")
    missing = [name for name in columns.labels if name not in existing]
    follows_words = len(missing) == len(columns.labels) and (WORD_LABELS in existing or SPANS in existing)
    if labelled and missing and not follows_words:
        raise missing_column(where, missing[0], existing, "--label-column")


def columns_of_table(where: str, header: Sequence[str], columns: Columns, *, labelled: bool) -> list[str]:
    """The columns that are read of a table with a header, each of which must be there once."""
    wanted = {columns.text: "--text-column"} | dict.fromkeys(columns.labels if labelled else (), "--label-column")
    for name, option in wanted.items():
        if name not in header:
            raise missing_column(where, name, header, option)
        if header.count(name) > 1:
            raise ZerotagError(f"{where}: {header.count(name)} columns are called {shown(name)}; rename all but one")
    return [*wanted]


def from_record(where: str, record: Mapping[str, object], columns: Columns, *, labelled: bool) -> Row:
    """A row from named values; labels are looked for, and needed, only if `labelled`."""
    check_columns(where, record, columns, labelled=labelled)
    record = _split_record(record, columns)
    sentence = _sentence(where, record, columns)
    if not labelled:
        return Row(where, sentence)
    cells = tuple(Cell(where, record[name], name) for name in columns.labels if name in record)
    word_labels = _word_labels(where, record, columns, sentence)
    if word_labels is not None and all(cell.value is None for cell in cells):  # Parquet cannot leave a cell out
        cells = ()
    if not cells and word_labels is None:
        raise ZerotagError(f"{where}: no labels, neither of the sentence nor of its words; add one or the other")
    return Row(where, sentence, cells, word_labels)


def row_or_reject(where: str, record: Mapping[str, object], columns: Columns, *, labelled: bool) -> Row | Reject:
    """The same, or why there is none, with the beginning of the text."""
    try:
        return from_record(where, record, columns, labelled=labelled)
    except ZerotagError as error:
        return Reject(str(error), excerpt(str(record.get(columns.text)).encode("utf-8", "backslashreplace")))


def _split_record(record: Mapping[str, object], columns: Columns) -> Mapping[str, object]:
    """The record under the fixed names, if its text is a list of words: then a list of labels is theirs."""
    words = record.get(columns.text)
    if columns.text == WORDS or not words or not _are_texts(words):
        return record
    renamed = {**record, columns.text: None, WORDS: words}
    label = columns.labels[0]
    if len(columns.labels) == 1 and WORD_LABELS not in record and isinstance(record.get(label), list):
        renamed |= {WORD_LABELS: renamed.pop(label)}
    return renamed


def _sentence(where: str, record: Mapping[str, object], columns: Columns) -> Sentence:
    text, words = record.get(columns.text), record.get(WORDS)
    if isinstance(text, str):
        # Words that are no texts are somebody else's, such as those that zerotag itself writes.
        return checked(where, _located(where, text, words) if words and _are_texts(words) else columns.split(text))
    if text is None and _are_texts(words):
        return checked(where, Sentence.from_words(words))
    if columns.text in record:
        raise ZerotagError(f"{where}: {columns.text!r} is {shown(text)}; it must be a text")
    raise ZerotagError(f"{where}: {WORDS!r} is {shown(words)}; it must be a list of texts")


def _located(where: str, text: str, words: Sequence[str]) -> Sentence:
    spans = []
    end = 0
    for word in words:
        start = text.find(word, end)
        if start < 0:
            raise ZerotagError(
                f"{where}: the word {shown(word)} is not in the text after character {end}; "
                f"make {WORDS!r} follow the text, or leave out the text"
            )
        end = start + len(word)
        spans.append((start, end))
    return Sentence(text, tuple(words), tuple(spans))


def _word_labels(
    where: str, record: Mapping[str, object], columns: Columns, sentence: Sentence
) -> tuple[tuple[Cell, ...], ...] | None:
    values, spans = record.get(WORD_LABELS), record.get(SPANS)
    if values is None and spans is None:
        return None
    yes = columns.labels[0] if len(columns.labels) == 1 else None
    cells: list[list[Cell]] = [[] for _ in sentence.words]
    if values is not None:
        if not isinstance(values, list) or len(values) != len(cells):
            got = len(values) if isinstance(values, list) else shown(values)
            raise ZerotagError(f"{where}: {WORD_LABELS!r} must list {len(cells)} labels, one per word, not {got}")
        for word_cells, value in zip(cells, values, strict=True):
            word_cells.append(Cell(where, value, yes))
    left = _MOST_COVERED
    if spans is not None:
        for start, end, value in _spans(where, spans, len(sentence.text)):
            covered = _covered(sentence, start, end)
            if not covered:
                raise ZerotagError(f"{where}: the span {start}..{end} covers no word; mend its offsets")
            left -= len(covered)
            if left < 0:
                raise ZerotagError(f"{where}: spans that cover {_MOST_COVERED:,} words in all; mend them")
            for i in covered:
                cells[i].append(Cell(where, value, yes))
    return tuple(map(tuple, cells))


def _covered(sentence: Sentence, start: int, end: int) -> range:
    """The words that a span overlaps; words follow one another."""
    first = bisect_right(sentence.spans, start, key=itemgetter(1))
    return range(first, bisect_left(sentence.spans, end, lo=first, key=itemgetter(0)))


def _spans(where: str, spans: object, length: int) -> Iterator[tuple[int, int, object]]:
    if not isinstance(spans, list):
        raise ZerotagError(f"{where}: {SPANS!r} is {shown(spans)}; it must be a list")
    for span in spans:
        start, end = (span.get("start"), span.get("end")) if isinstance(span, dict) else (None, None)
        if type(start) is not int or type(end) is not int:
            raise ZerotagError(f"{where}: the span {shown(span)} must have a whole number as start and as end")
        if not 0 <= start < end <= length:
            raise ZerotagError(
                f"{where}: the span {start}..{end} is not in the text of {length} characters; mend its offsets"
            )
        label = span.get("label")
        yield start, end, True if label is None else label


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
