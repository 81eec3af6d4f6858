"""Cutting a labelled text into words and what stands between them."""

from __future__ import annotations

from collections.abc import Iterator

from zerotag.types import Labelled, Word


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
