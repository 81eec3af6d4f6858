"""M2 files, the format of grammatical error correction, read as words with an error flag each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zerotag.errors import ZerotagError

_FIELDS = "A start end|||type|||correction|||required|||comment|||annotator"
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


def read_m2(path: Path, annotator: int = 0) -> Iterator[M2Sentence]:
    """Yield the sentences of an M2 file as one annotator marked them.

    Every word inside an edit is an error. An insertion marks the word it goes in front of, or the last word at the
    end of the sentence. A sentence without edits by this annotator, or with a `noop`, has no errors.
    """
    annotators: set[int] = set()
    for block in _blocks(path):
        (number, first), *rest = block
        place = f"{path}:{number}"
        words = _words(first, place)
        edits = [_edit(line, len(words), f"{path}:{number}") for number, line in rest]
        annotators.update(edit.annotator for edit in edits)
        wrong = {i for edit in edits if edit.annotator == annotator for i in edit.words}
        yield M2Sentence(words, tuple(i in wrong for i in range(len(words))), place)
    if annotators and annotator not in annotators:
        known = ", ".join(map(str, sorted(annotators)))
        raise ZerotagError(f"{path}: no edits by annotator {annotator}; the file has annotator {known}")


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 text file with their numbers, without line ends or a byte-order mark."""
    number = 0
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if b"\0" in raw:
                    raise ZerotagError(f"{path}:{number}: a NUL byte; this is not a text file")
                encoding = "utf-8-sig" if number == 1 else "utf-8"
                yield number, raw.decode(encoding).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ZerotagError(f"{path}:{number}: not UTF-8 ({error.reason}); convert the file to UTF-8") from None
    except OSError as error:
        raise ZerotagError(f"{path}: cannot read the file: {error.strerror}") from None


def _blocks(path: Path) -> Iterator[list[tuple[int, str]]]:
    """Yield runs of lines that are not blank: a sentence and its edits."""
    block: list[tuple[int, str]] = []
    for number, line in numbered_lines(path):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _words(line: str, place: str) -> tuple[str, ...]:
    if line.startswith("A "):
        raise ZerotagError(f"{place}: an A line before its S line; a sentence starts with 'S ', its edits follow")
    if line != "S" and not line.startswith("S "):
        raise ZerotagError(f"{place}: expected 'S ' and the words of a sentence, found {_short(line)}")
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
        raise ZerotagError(f"{place}: expected '{_FIELDS}', found {_short(line)}")
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


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")
