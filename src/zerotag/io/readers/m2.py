"""M2 files, the format of grammatical error correction, read as words with an error flag each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate

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


def records(source: Source, _columns: Columns, start: Position, *, labelled: bool) -> Iterator[Record]:
    """A record per sentence, in which each wrong word has the label `error`, as the first annotator sees it.

    Every word inside an edit is wrong. An insertion marks the word it goes in front of, or the last word at the end of
    the sentence. A sentence without edits by this annotator, or with a `noop`, has no errors.
    """
    annotators: set[int] = set()
    for lines in paragraphs(source, start):
        yield from attempt(lines, partial(_row, annotators=annotators, labelled=labelled))
    if labelled and annotators and _ANNOTATOR not in annotators:
        known = ", ".join(map(str, sorted(annotators)))
        raise ZerotagError(f"{source.name}: no edits by annotator {_ANNOTATOR}; the file has annotator {known}")


def _row(lines: Sequence[Line], *, annotators: set[int], labelled: bool) -> Row:
    """The sentence of an S line and its A lines; whoever made an edit joins the annotators."""
    first, *rest = lines
    words = _words(without_end(first.text), first.where)
    edits = [_edit(without_end(line.text), len(words), line.where) for line in rest]
    annotators.update(annotator for annotator, _ in edits)
    ours = [edited for annotator, edited in edits if annotator == _ANNOTATOR]
    begun = Counter(edited.start for edited in ours)
    begun.subtract(edited.stop for edited in ours)
    covering = accumulate(begun[i] for i in range(len(words)))  # edits of each word; there may be many on many words
    cells = tuple((Cell(first.where, count > 0, _LABEL),) for count in covering)
    sentence = checked(first.where, Sentence.from_words(words))
    return Row(first.where, sentence, word_labels=cells if labelled else None)


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


def _edit(line: str, length: int, place: str) -> tuple[int, range]:
    """Who made an edit, and the words that it changes."""
    if line.startswith("S "):
        raise ZerotagError(f"{place}: a second S line in one sentence; put a blank line before it")
    fields = line.removeprefix("A ").split("|||")
    span = _SPAN.fullmatch(fields[0])
    if not line.startswith("A ") or len(fields) != 6 or span is None or not _NUMBER.fullmatch(fields[5]):
        raise ZerotagError(f"{place}: expected '{_FIELDS}', found {shown(line)}")
    annotator = int(fields[5])
    if fields[1] == "noop":
        return annotator, range(0)
    start, end = int(span[1]), int(span[2])
    if not 0 <= start <= end <= length:
        raise ZerotagError(f"{place}: edit {start} {end} is outside its sentence; spans lie within 0 and {length}")
    if start == end:
        start = min(start, length - 1)
        end = start + 1
    return annotator, range(start, end)


READER = ReaderSpec(records=records, suffixes=(".m2",))
