"""Drawings as PNG, through matplotlib."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from zerotag.errors import ZerotagError
from zerotag.extras import needed
from zerotag.render.heatmap.drawing import LINE, RULE, Box, Drawing, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCREEN_DPI, _DPI = 96, 192
_MOST_PIXELS = 2**16 - 1  # of height, that matplotlib can draw


def png(drawing: Drawing) -> bytes:
    """The drawing as a file, in twice the resolution of a screen."""
    if drawing.height * _DPI / _SCREEN_DPI > _MOST_PIXELS:
        raise ZerotagError("the text is too long for one PNG: choose a name in .svg or .html for --out")
    needed("a PNG (.svg and .html need nothing)", "plots", "matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(drawing.width / _SCREEN_DPI, drawing.height / _SCREEN_DPI), dpi=_DPI)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, drawing.width)
    axes.set_ylim(drawing.height, 0)
    for box in drawing.boxes:
        _add_box(axes, box)
    for text in drawing.texts:
        _add_text(axes, text)
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its font lacks some scripts, whose letters are drawn as boxes
        figure.savefig(file, format="png")
    return file.getvalue()


def _add_box(axes: Axes, box: Box) -> None:
    from matplotlib.patches import Rectangle

    patch = Rectangle((box.x, box.y), box.width, box.height, facecolor=box.colour)
    patch.set_edgecolor(LINE if box.outlined else RULE)
    patch.set_linewidth(1.5 if box.outlined else 0.75)
    patch.set_zorder(2 if box.outlined else 1)  # or its neighbours would cover half of the line
    axes.add_patch(patch)


def _add_text(axes: Axes, text: Text) -> None:
    axes.text(
        text.x,
        text.y,
        text.text,
        fontsize=text.size * 72 / _SCREEN_DPI,
        fontweight="bold" if text.bold else "normal",
        color=text.colour,
        horizontalalignment="center" if text.anchor == "middle" else "left",
        verticalalignment="baseline",
        parse_math=False,
        zorder=3,
    )
