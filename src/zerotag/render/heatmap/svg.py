"""Drawings as SVG: in the viewer's fonts, so that every script is shown, and always the same for the same drawing."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from zerotag.render.heatmap import drawable
from zerotag.render.heatmap.drawing import LINE, RULE, Box, Drawing, Text


def svg(drawing: Drawing, *, label: str) -> str:
    """The drawing as a file; `label` says what it shows to those who cannot see it."""
    return "".join(f"{line}\n" for line in _lines(drawing, label))


def _lines(drawing: Drawing, label: str) -> Iterator[str]:
    size = f"{drawing.width:.0f} {drawing.height:.0f}"
    width, height = size.split()
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{width}" height="{height}" '
        f'font-family="DejaVu Sans, Verdana, sans-serif" role="img" aria-label={quoteattr(drawable(label))}>'
    )
    yield f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    # Outlined boxes come last, or their neighbours would cover half of the line.
    yield from map(_box, sorted(drawing.boxes, key=lambda box: box.outlined))
    yield from map(_text, drawing.texts)
    yield "</svg>"


def _box(box: Box) -> str:
    stroke = f'stroke="{LINE}" stroke-width="2"' if box.outlined else f'stroke="{RULE}"'
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'fill="{box.colour}" {stroke}/>'
    )


def _text(text: Text) -> str:
    style = f' text-anchor="{text.anchor}"' if text.anchor != "start" else ""
    style += ' font-weight="bold"' if text.bold else ""
    return (
        f'<text x="{text.x:.1f}" y="{text.y:.1f}" font-size="{text.size:g}" fill="{text.colour}"{style} '
        f'xml:space="preserve">{escape(text.text)}</text>'
    )
