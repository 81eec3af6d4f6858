"""The input format with scores: word, one score per label, label; a blank line ends each sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zerotag.io.writers import WriterSpec, encode_with
from zerotag.io.writers.style import Style
from zerotag.text.printable import one_line
from zerotag.types import Labelled, Word

_BLANK = "␢"  # instead of words made of nothing but spaces, which cannot be read again


def render(results: Iterable[Labelled], style: Style) -> Iterator[str]:
    """The results as tab-separated lines, which can be read again as word and label."""
    for labelled in results:
        yield "".join(_row(word, style) for word in labelled.words) + "\n"


def _row(word: Word, style: Style) -> str:
    scores = [f"{word.scores[name]:z.6f}" for name in style.label_names]
    label = "|".join(word.labels) or style.negative
    text = one_line(word.text)
    return "\t".join([text if text.strip(" ") else _BLANK, *scores, one_line(label)]) + "\n"


WRITER = WriterSpec(suffix=".tsv", render=render, encode=encode_with(render))
