"""M2 files, the format of grammatical error correction, read as words with an error flag each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.lines import Line, paragraphs, without_end
from zerotag.io.problems import shown
from zerotag.io.readers import ReaderSpec
from zerotag.io.rows import Cell, Record, Row, attempt, checked
from zerotag.io.sources import Position, Source
from zerotag.types import Sentence

_FIELDS = "A start end|||type|||correction|||required|||comment|||annotator"
_LABEL = "error"
_ANNOTATOR = 0
_SPAN = re.compile(r"(-?[0-9]{1,9}) (-?[0-9]{1,9})")
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class M2Sentence:
    """The words of one sentence, whether each is an error, and `file:line` of its S line."""

    words: tuple[str, ...]
    errors: tuple[bool, ...]
    place: str


@dataclass(frozen=True, slots=True)
class _Edit:
    annotator: int
    words: range


def records(source: Source, _columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per sentence, in which each wrong word has the label `error`."""
    annotators: set[int] = set()
    for lines in paragraphs(source, start):
        yield from attempt(lines, partial(_row, annotators=annotators, labelled=labelled))
    if labelled:
        _check_annotator(source.name, annotators, _ANNOTATOR)


def read_m2(path: Path | None, annotator: int = _ANNOTATOR) -> Iterator[M2Sentence]:
    """Yield the sentences of an M2 file as one annotator marked them.

    Every word inside an edit is an error. An insertion marks the word it goes in front of, or the last word at the
    end of the sentence. A sentence without edits by this annotator, or with a `noop`, has no errors.
    """
    source = Source(path)
    annotators: set[int] = set()
    for lines in paragraphs(source):
        yield _sentence(lines, annotators, annotator)
    _check_annotator(source.name, annotators, annotator)


def _row(lines: Sequence[Line], *, annotators: set[int], labelled: bool) -> Row:
    sentence = _sentence(lines, annotators, _ANNOTATOR)
    cells = tuple((Cell(sentence.place, wrong, _LABEL),) for wrong in sentence.errors)
    return Row(
        sentence.place,
        checked(sentence.place, Sentence.from_words(sentence.words)),
        word_labels=cells if labelled else None,
    )


def _sentence(lines: Sequence[Line], annotators: set[int], annotator: int) -> M2Sentence:
    """The sentence of an S line and its A lines; whoever made an edit joins the annotators."""
    first, *rest = lines
    words = _words(without_end(first.text), first.where)
    edits = [_edit(without_end(line.text), len(words), line.where) for line in rest]
    annotators.update(edit.annotator for edit in edits)
    ours = [edit.words for edit in edits if edit.annotator == annotator]
    begun = Counter(edited.start for edited in ours)
    begun.subtract(edited.stop for edited in ours)
    covering = accumulate(begun[i] for i in range(len(words)))  # edits of each word; there may be many on many words
    return M2Sentence(words, tuple(count > 0 for count in covering), first.where)


def _check_annotator(name: str, annotators: set[int], annotator: int) -> None:
    if annotators and annotator not in annotators:
        known = ", ".join(map(str, sorted(annotators)))
        raise ZerotagError(f"{name}: no edits by annotator {annotator}; the file has annotator {known}")


def _words(line: str, place: str) -> tuple[str, ...]:
    if line.startswith("A "):
        raise ZerotagError(f"{place}: an A line before its S line; a sentence starts with 'S ', its edits follow")
    if line != "S" and not line.startswith("S "):
        raise ZerotagError(f"{place}: expected 'S ' and the words of a sentence, found {shown(line)}")
    # Only the plain space separates words: the edits count a word with a no-break space inside as one.
    words = tuple(line[2:].split(" "))
    if words == ("",):
        raise ZerotagError(f"{place}: a sentence without words; remove it")
    if not all(word.strip() for word in words):
        raise ZerotagError(f"{place}: an empty word; put exactly one space between words, none at the end")
    return words


def _edit(line: str, length: int, place: str) -> _Edit:
    if line.startswith("S "):
        raise ZerotagError(f"{place}: a second S line in one sentence; put a blank line before it")
    fields = line.removeprefix("A ").split("|||")
    span = _SPAN.fullmatch(fields[0])
    if not line.startswith("A ") or len(fields) != 6 or span is None or not _NUMBER.fullmatch(fields[5]):
        raise ZerotagError(f"{place}: expected '{_FIELDS}', found {shown(line)}")
    annotator = int(fields[5])
    if fields[1] == "noop":
        return _Edit(annotator, range(0))
    start, end = int(span[1]), int(span[2])
    if not 0 <= start <= end <= length:
        raise ZerotagError(f"{place}: edit {start} {end} is outside its sentence; spans lie within 0 and {length}")
    if start == end:
        start = min(start, length - 1)
        end = start + 1
    return _Edit(annotator, range(start, end))


READER = ReaderSpec(records=records, suffixes=(".m2",))
