"""Text line by line, with the file and line of whatever is wrong."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from zerotag.errors import ZerotagError
from zerotag.io.sources import START, Position, Source

BYTE_ORDER_MARK = "\ufeff".encode()
MAX_LINE = 1 << 20  # bytes; what is longer is no sentence, and must not fill the memory
MAX_PARAGRAPH = 1 << 20


class Line(NamedTuple):
    """A line as a file has it; nothing is wrong with it before somebody asks for its text."""

    source: str
    number: int
    raw: bytes
    end: Position

    @property
    def where(self) -> str:
        """File and line, as messages give them."""
        return f"{self.source}:{self.number}"

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing but spaces and tabs; other white space, such as a no-break space, can be a word."""
        content = self.raw.removesuffix(b"\n").removesuffix(b"\r").strip(b" \t")
        return not content or (self.number == 1 and content == BYTE_ORDER_MARK)

    @property
    def text(self) -> str:
        """The line decoded, its end included."""
        if b"\0" in self.raw:
            raise ZerotagError(f"{self.where}: a NUL byte: a binary file, or text that is not UTF-8; save it as UTF-8")
        if len(self.raw) >= MAX_LINE:
            raise ZerotagError(f"{self.where}: a line of more than {MAX_LINE >> 20} MiB; split or remove it")
        try:
            text = self.raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ZerotagError(
                f"{self.where}: not UTF-8 (byte {self.raw[error.start]:#04x} at position {error.start + 1}); "
                "save it as UTF-8"
            ) from None
        return text.removeprefix("\ufeff") if self.number == 1 else text


def raw_lines(source: Source, start: Position = START) -> Generator[Line]:
    """The lines from a position on, not yet decoded. Only a line feed ends a line."""
    offset, number = start
    with source.opened(offset) as file:
        while raw := file.readline(MAX_LINE):
            offset += len(raw)
            rest = raw
            while len(rest) == MAX_LINE and not rest.endswith(b"\n"):
                rest = file.readline(MAX_LINE)
                offset += len(rest)
            number += 1
            yield Line(source.name, number, raw, Position(offset, number))


def lines(path: Path | None) -> Iterator[tuple[str, str]]:
    """Each line with its `file:line`, line end included; the first one that is no text is an error."""
    for line in raw_lines(Source(path)):
        yield line.where, line.text


class _LinesWithoutEnd(Line):
    """Lines that are too many for a sentence; the first of them stands for all."""

    __slots__ = ()

    @property
    def text(self) -> str:
        limit = f"{MAX_PARAGRAPH >> 20} MiB"
        raise ZerotagError(f"{self.where}: more than {limit} without a blank line, which ends a sentence; put it in")


def paragraphs(source: Source, start: Position = START) -> Iterator[list[Line]]:
    """Runs of lines that are not blank."""
    for blank, run in groupby(raw_lines(source, start), key=attrgetter("is_blank")):
        if not blank:
            yield _paragraph(run)


def _paragraph(run: Iterator[Line]) -> list[Line]:
    kept: list[Line] = []
    size = 0
    for line in run:
        size += len(line.raw)
        if size <= MAX_PARAGRAPH:
            kept.append(line)
    if size > MAX_PARAGRAPH:
        return [_LinesWithoutEnd(*kept[0][:-1], line.end)]
    return kept


def without_end(line: str) -> str:
    """The line without its line feed or carriage return and line feed."""
    return line.removesuffix("\n").removesuffix("\r")
