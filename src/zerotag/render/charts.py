"""Line charts of shares over scores, both from 0 to 1, as SVG that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from zerotag.render.heatmap import drawable
from zerotag.render.heatmap.drawing import INK, QUIET, RULE

HUES = (
    "#8a3600",
    "#004c92",
    "#005c34",
    "#96083e",
    "#5c2ab0",
    "#685600",
    "#005a62",
    "#504c46",
)  # --line of the light theme
_WIDTH, _HEIGHT = 440.0, 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 18.0, 34.0, 52.0
_LEGEND_ROW = 20.0
_TICKS = tuple(number / 5 for number in range(6))


class Line(NamedTuple):
    """A line through points, (x, y) from 0 to 1."""

    name: str
    points: Sequence[tuple[float, float]]
    hue: int = 0
    dashed: bool = False
    sizes: Sequence[float] = ()
    """The radius of a dot at each point; without any there are no dots."""


class Mark(NamedTuple):
    """A vertical line at a score, and what it says."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over scores, and what stands beside them."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    diagonal: str = ""
    """What the line from corner to corner stands for, if it is drawn."""


def svg(chart: Chart) -> str:
    """The chart as a file; also as part of a page, whose style sheet may recolour its classes."""
    named = [*chart.lines, *([Line(chart.diagonal, (), dashed=True)] if chart.diagonal else [])]
    height = _HEIGHT + _LEGEND_ROW * (len(named) + 0.4)
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {height:g}" width="{_WIDTH:g}" '
            f'height="{height:g}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="12" class="chart" '
            f'role="img" aria-label={quoteattr(drawable(_described(chart)))}>\n',
            '<rect width="100%" height="100%" fill="#ffffff" class="ground"/>\n',
            _text(_LEFT, 20, chart.title, "ink", weight="bold", size=14),
            *_axes(chart),
            *(_vertical(mark) for mark in chart.marks),
            *(_line(line) for line in chart.lines),
            *_legend(named),
            "</svg>\n",
        ]
    )


def _described(chart: Chart) -> str:
    """What the chart shows, for those who cannot see it."""
    return f"{chart.title}: {', '.join(line.name for line in chart.lines)}; {chart.y_label} by {chart.x_label}"


def _x(value: float) -> float:
    return _LEFT + value * (_WIDTH - _LEFT - _RIGHT)


def _y(value: float) -> float:
    return _HEIGHT - _BOTTOM - value * (_HEIGHT - _TOP - _BOTTOM)


def _axes(chart: Chart) -> Iterator[str]:
    for tick in _TICKS:
        yield _path([(tick, 0), (tick, 1)], RULE, "grid", 1)
        yield _path([(0, tick), (1, tick)], RULE, "grid", 1)
        yield _text(_x(tick), _y(0) + 18, f"{tick:.1f}", "quiet", anchor="middle")
        yield _text(_LEFT - 8, _y(tick) + 4, f"{tick:.1f}", "quiet", anchor="end")
    if chart.diagonal:
        yield _path([(0, 0), (1, 1)], QUIET, "quiet-line", 1.5, dashed=True)
    yield _text((_x(0) + _x(1)) / 2, _y(0) + 38, chart.x_label, "ink", anchor="middle")
    middle = (_y(0) + _y(1)) / 2
    turned = f' transform="rotate(-90 16 {middle:.1f})"'
    yield _text(16, middle, chart.y_label, "ink", anchor="middle", more=turned)


def _vertical(mark: Mark) -> str:
    anchor, shift = ("end", -5) if mark.x > 0.6 else ("start", 5)
    line = _path([(mark.x, 0), (mark.x, 1)], INK, "ink-line", 1.5)
    return line + _text(_x(mark.x) + shift, _y(1) + 14, mark.text, "ink", anchor=anchor, size=11)


def _line(line: Line) -> str:
    colour, kind = HUES[line.hue % len(HUES)], f"hue{line.hue % len(HUES)}"
    dots = (
        (
            f'<circle cx="{_x(x):.1f}" cy="{_y(y):.1f}" r="{size:.1f}" fill="{colour}" class="{kind} dot"/>\n'
            for (x, y), size in zip(line.points, line.sizes, strict=True)
        )
        if line.sizes
        else ()
    )
    return _path(line.points, colour, kind, 2, dashed=line.dashed) + "".join(dots)


def _legend(lines: Sequence[Line]) -> Iterator[str]:
    for number, line in enumerate(lines):
        y = _HEIGHT + _LEGEND_ROW * (number + 0.4)
        colour = HUES[line.hue % len(HUES)] if line.points else QUIET
        kind = f"hue{line.hue % len(HUES)}" if line.points else "quiet-line"
        dash = ' stroke-dasharray="5 4"' if line.dashed else ""
        yield (
            f'<path d="M{_LEFT:g} {y:g}h26" fill="none" stroke="{colour}" stroke-width="2" class="{kind}"{dash}/>\n'
            + _text(_LEFT + 34, y + 4, line.name, "ink")
        )


def _path(points: Sequence[tuple[float, float]], colour: str, kind: str, width: float, *, dashed: bool = False) -> str:
    if not points:
        return ""
    way = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="{width:g}" class="{kind}"{dash}/>\n'


def _text(
    x: float,
    y: float,
    text: str,
    kind: str,
    *,
    anchor: str = "start",
    weight: str = "",
    size: float = 0,
    more: str = "",
) -> str:
    style = f' font-weight="{weight}"' if weight else ""
    style += f' font-size="{size:g}"' if size else ""
    colour = INK if kind == "ink" else QUIET
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" class="{kind}"{style}{more}>'
        f"{escape(drawable(text))}</text>\n"
    )
