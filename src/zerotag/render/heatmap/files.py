"""Heat maps as files, by the suffix of their name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from zerotag.io.writers.jsonl import encode
from zerotag.render.heatmap import HeatMap, html, record
from zerotag.render.heatmap.drawing import draw
from zerotag.render.heatmap.png import png
from zerotag.render.heatmap.svg import svg
from zerotag.types import Sentence

Content = Callable[[Sequence[HeatMap], Sentence], bytes]


def _json(maps: Sequence[HeatMap], sentence: Sentence) -> bytes:
    return f"{encode(record(sentence, maps))}\n".encode()


FILES: Mapping[str, Content] = MappingProxyType(
    {
        ".png": lambda maps, _: png(draw(maps)),
        ".svg": lambda maps, sentence: svg(draw(maps), label=sentence.text).encode(),
        ".html": lambda maps, sentence: html.page(maps, sentence.text).encode(),
        ".json": _json,
    }
)
"""What the file with each suffix holds, for the heat maps of a sentence."""
