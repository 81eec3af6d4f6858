"""Cutting a labelled text into words and what stands between them, and making characters safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterator

from zerotag.types import Labelled, Word

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL_PICTURES = str.maketrans(
    {code: chr(0x2400 + code) for code in range(0x20)}
    | {0x7F: "␡", 0x85: "␤", 0x2028: "␤", 0x2029: "␤"}
    | {code: "�" for code in range(0x80, 0xA0) if code != 0x85}
)


def pieces(labelled: Labelled) -> Iterator[tuple[str, Word | None]]:
    """The text in order, as words and the strings between them (with None); joined they are the exact text."""
    end = 0
    for word in labelled.words:
        if word.start > end:
            yield labelled.text[end : word.start], None
        yield labelled.text[word.start : word.end], word
        end = word.end
    if end < len(labelled.text):
        yield labelled.text[end:], None


def encodable(text: str) -> str:
    """The text with lone surrogates, which no encoding can write, replaced by �."""
    return _LONE_SURROGATE.sub("�", text)


def one_line(text: str) -> str:
    """The text with control characters made visible: no line breaks, no tabs, nothing a terminal would obey."""
    return encodable(text).translate(_CONTROL_PICTURES)
