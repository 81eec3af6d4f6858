"""Heat maps as boxes and texts on a plane, for whatever draws those. The unit is a pixel of a screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len

from zerotag.render.heatmap import HeatMap, bands, shortened

INK, QUIET, RULE, LINE = "#1f1c18", "#635d54", "#dfd9cd", "#8a3600"
_TINT = (255, 186, 84)
_PAGE_WIDTH = 960.0
_MARGIN = 12.0
_WORD_SIZE, _SCORE_SIZE, _NOTE_SIZE = 14.0, 11.0, 11.0
_CELL_WIDTH = 0.62  # of a character, in units of its size
_ROW = 26.0
_NARROWEST = 50.0
_NOTE = "outlined: reaches the threshold, which is in the middle of the scale"
_GOLD_NOTE = "in bold: truly positive"

Anchor = Literal["start", "middle"]


@dataclass(frozen=True, slots=True)
class Box:
    """A cell: its upper left corner, its size and its colour; outlined if its word is positive."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    outlined: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text whose letters stand on `y`."""

    x: float
    y: float
    text: str
    size: float
    anchor: Anchor = "start"
    colour: str = INK
    bold: bool = False


@dataclass(slots=True)
class Drawing:
    """All there is to draw, from the back to the front."""

    width: float = 0.0
    height: float = _MARGIN
    boxes: list[Box] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)

    def line(self, text: str, size: float, *, colour: str = INK, bold: bool = False) -> None:
        """Put a line of text below what is there."""
        self.height += 1.6 * size
        self.texts.append(Text(_MARGIN, self.height - 0.5 * size, text, size, colour=colour, bold=bold))
        self.widen(_MARGIN + text_width(text, size))

    def widen(self, right: float) -> None:
        """Make room up to `right`, and a margin."""
        self.width = max(self.width, right + _MARGIN)


def draw(maps: Sequence[HeatMap]) -> Drawing:
    """The heat maps below each other; sentences too long for the width go on in another band."""
    drawing = Drawing()
    for heat_map in maps:
        drawing.line(shortened(heat_map.title), _WORD_SIZE, bold=True)
        _draw_bands(drawing, heat_map)
        drawing.height += _MARGIN
    notes = [_NOTE] if any(row.positive for one in maps for row in one.rows) else []
    notes += [_GOLD_NOTE] if any(one.gold for one in maps) else []
    if notes:
        drawing.line("; ".join(notes), _NOTE_SIZE, colour=QUIET)
    drawing.height += _MARGIN
    return drawing


def _draw_bands(drawing: Drawing, heat_map: HeatMap) -> None:
    words = heat_map.shown_words()
    names = [row.shown_name for row in heat_map.rows]
    left = _MARGIN + max(text_width(name, _WORD_SIZE) for name in names) + _MARGIN
    widths = [max(text_width(word, _WORD_SIZE) + 12, _NARROWEST) for word in words]
    cells = [row.cells() for row in heat_map.rows]
    gold, right_to_left = heat_map.gold_marks(), heat_map.right_to_left
    for band in bands(widths, _PAGE_WIDTH - left - _MARGIN):
        columns = range(len(words))[band]
        places = _places(left, widths[band], right_to_left)
        top = drawing.height + 1.7 * _WORD_SIZE
        for column, x in zip(columns, places, strict=True):
            middle = x + widths[column] / 2
            colour = LINE if gold[column] else INK
            word = Text(middle, top - 6, words[column], _WORD_SIZE, "middle", colour, bold=gold[column])
            drawing.texts.append(word)
            for number, its_cells in enumerate(cells):
                score, shade, marked = its_cells[column]
                y = top + number * _ROW
                drawing.boxes.append(Box(x, y, widths[column], _ROW, tinted(shade), marked))
                drawing.texts.append(Text(middle, y + 0.5 * _ROW + 4, score, _SCORE_SIZE, "middle"))
        for number, name in enumerate(names):
            drawing.texts.append(Text(_MARGIN, top + (number + 0.5) * _ROW + 5, name, _WORD_SIZE))
        drawing.height = top + len(names) * _ROW + 4
        drawing.widen(left + sum(widths[band]))


def _places(left: float, widths: Sequence[float], right_to_left: bool) -> list[float]:
    """Where each column begins; the first word is on the right where one begins to read there."""
    starts = [left + sum(widths[:column]) for column in range(len(widths))]
    if not right_to_left:
        return starts
    right = 2 * left + sum(widths)
    return [right - start - width for start, width in zip(starts, widths, strict=True)]


def text_width(text: str, size: float) -> float:
    """About how wide a text is in a common font."""
    return cell_len(text) * _CELL_WIDTH * size


def tinted(shade: float) -> str:
    """The colour of a shade from 0, white, to 1; faint at first, so that many low scores do not clutter the picture."""
    strength = shade * (0.4 + 0.6 * shade)
    return "#" + "".join(f"{round(255 + (full - 255) * strength):02x}" for full in _TINT)
