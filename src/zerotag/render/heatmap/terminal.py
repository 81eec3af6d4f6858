"""Heat maps as lines of text: coloured, or with brackets around the scores of positive words."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from zerotag.render.heatmap import Cell, HeatMap, bands
from zerotag.render.terminal import shaded

_GAP = 2
_NARROWEST = len(" -0.0000")


def lines(heat_map: HeatMap, *, width: int, colour: bool) -> Iterator[str]:
    """The heat map within `width` columns of a terminal, where one word at a time fits."""
    words = heat_map.shown_words()
    names = [row.shown_name for row in heat_map.rows]
    room = max(map(cell_len, names)) + _GAP
    widths = [max(cell_len(word), _NARROWEST) for word in words]
    rows = [
        [_drawn(cell, its_width, colour) for cell, its_width in zip(row.cells(), widths, strict=True)]
        for row in heat_map.rows
    ]
    yield heat_map.title
    for band in bands([one + _GAP for one in widths], width - room):
        yield ""
        yield _line(" " * room, list(map(_padded, words[band], widths[band])))
        yield from (_line(_padded(name, room), row[band]) for name, row in zip(names, rows, strict=True))


def _drawn(cell: Cell, width: int, colour: bool) -> str:
    if colour:
        return shaded(_padded(f" {cell.text}", width), cell.shade, marked=cell.marked)
    return _padded(f"[{cell.text}]" if cell.marked else f" {cell.text}", width)


def _line(name: str, columns: list[str]) -> str:
    return (name + (" " * _GAP).join(columns)).rstrip(" ")


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
