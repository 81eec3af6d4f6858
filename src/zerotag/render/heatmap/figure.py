"""The heat maps of a text as an object that notebooks draw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io.files import whole_file
from zerotag.render.heatmap import HeatMap, record
from zerotag.render.heatmap.drawing import draw
from zerotag.render.heatmap.files import FILES
from zerotag.render.heatmap.svg import svg
from zerotag.types import Sentence


@dataclass(frozen=True, slots=True)
class Figure:
    """How methods score the words of a text: a heat map for each label."""

    sentence: Sentence
    maps: tuple[HeatMap, ...]

    def _repr_html_(self) -> str:
        return svg(draw(self.maps), label=self.sentence.text)

    def to_json(self) -> dict[str, Any]:
        """Words and scores as plain data."""
        return record(self.sentence, self.maps)

    def save(self, path: str | Path) -> None:
        """Write a file: .png, .svg, .html or .json.

        Raises:
            ZerotagError: the name ends in something else, or the file cannot be written.
        """
        place = Path(path)
        if place.suffix.lower() not in FILES:
            raise ZerotagError(f"{place} does not end in {', '.join(FILES)}: choose another name")
        content = FILES[place.suffix.lower()](self.maps, self.sentence)
        with whole_file(place) as file:
            file.buffer.write(content)
