"""Heat maps as tables of an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from zerotag.io.writers.style import Style
from zerotag.render.heatmap import HeatMap, bands, shortened
from zerotag.render.html import Markup, Paragraph, report
from zerotag.render.markup import escaped

_ROOM = 90  # characters beside each other
_PADDING = 3
_NOTE = (
    "The stronger the shade of a cell, the higher the score of the word above it: where there is a threshold, it is in "
    "the middle of the scale, and cells that reach it are underlined; otherwise the highest score has the full shade."
)


def page(maps: Sequence[HeatMap], text: str) -> str:
    """A page of its own about a text."""
    style = Style(label_names=(), rules=(), title="Word scores")
    whole = Markup(f'<p class="text" dir="auto" lang="">{escaped(text)}</p>\n')
    return "".join(report([whole, *map(tables, maps), Paragraph(_NOTE)], style))


def tables(heat_map: HeatMap) -> Markup:
    """The heat map; a long sentence takes several tables."""
    return Markup(f"<h2>{escaped(shortened(heat_map.title))}</h2>\n" + "".join(_tables(heat_map)))


def _tables(heat_map: HeatMap) -> Iterator[str]:
    words = heat_map.shown_words()
    names = [row.shown_name for row in heat_map.rows]
    rows = [[_cell(*cell) for cell in row.cells()] for row in heat_map.rows]
    widths = [max(cell_len(word), 4) + _PADDING for word in words]
    title, direction = escaped(shortened(heat_map.title)), "rtl" if heat_map.right_to_left else "ltr"
    for band in bands(widths, _ROOM - max(map(cell_len, names))):
        header = "".join(f'<th scope="col"><span class="word">{escaped(word)}</span></th>' for word in words[band])
        body = "".join(
            f'<tr><th scope="row" dir="auto"><span class="name">{escaped(name)}</span></th>{"".join(row[band])}</tr>\n'
            for name, row in zip(names, rows, strict=True)
        )
        yield (
            f'<div class="heat" role="region" tabindex="0" aria-label="{title}" dir="{direction}">\n'
            f"<table>\n<thead><tr><td></td>{header}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
        )


def _cell(score: str, shade: float, marked: bool) -> str:
    return f'<td class="cell k0{" yes" if marked else ""}" style="--strength: {shade:.2f};">{score}</td>'
