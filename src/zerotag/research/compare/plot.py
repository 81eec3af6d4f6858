"""Line plots as SVG: panels with percents over counts on a logarithmic scale. The same numbers make the same file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from zerotag.render.heatmap.drawing import INK, QUIET, RULE, text_width

_WIDTH, _HEIGHT = 236.0, 170.0  # of what is between the axes of a panel
_LEFT, _RIGHT, _TOP, _BOTTOM = 38.0, 26.0, 34.0, 30.0  # what is around that
_MARGIN = 12.0
_LEGEND = 22.0
_SIZE = 11.0
_STYLES = (  # a colour and a dash by series, so that they can be told apart without colours
    ("#8a3600", ""),
    ("#1d5b87", "6 3"),
    ("#3f6b21", "2 3"),
    ("#6b3f7a", "8 3 2 3"),
)
_LEVEL = f'stroke="{QUIET}" stroke-dasharray="1 3"'


@dataclass(frozen=True, slots=True)
class Point:
    """A number of things and, in percent, what was measured with them."""

    count: int
    percent: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Panel:
    """A measure on a corpus: the points of each series, and a level to compare them with."""

    title: str
    series: tuple[tuple[Point, ...], ...]
    level: float | None


def plot(rows: Sequence[Sequence[Panel]], names: Sequence[str], *, level_name: str, label: str) -> str:
    """Rows of panels, with the names of their series above; `label` says what it shows to those who cannot see it."""
    width = _MARGIN * 2 + max(map(len, rows)) * (_LEFT + _WIDTH + _RIGHT)
    height = _MARGIN * 2 + _LEGEND + len(rows) * (_TOP + _HEIGHT + _BOTTOM)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="{_SIZE:g}" role="img" '
        f"aria-label={quoteattr(label)}>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        *_legend(names, level_name),
    ]
    for down, row in enumerate(rows):
        for across, panel in enumerate(row):
            left = _MARGIN + _LEFT + across * (_LEFT + _WIDTH + _RIGHT)
            top = _MARGIN + _LEGEND + _TOP + down * (_TOP + _HEIGHT + _BOTTOM)
            lines += _Axes(panel, left, top).drawn()
    return "".join(f"{line}\n" for line in (*lines, "</svg>"))


def _legend(names: Sequence[str], level_name: str) -> Iterator[str]:
    x, y = _MARGIN + _LEFT, _MARGIN + _SIZE
    for name, line in (*((name, _stroke(number)) for number, name in enumerate(names)), (level_name, _LEVEL)):
        yield f'<line x1="{x:.1f}" y1="{y - 4:.1f}" x2="{x + 28:.1f}" y2="{y - 4:.1f}" stroke-width="2" {line}/>'
        yield _text(x + 34, y, name)
        x += 34 + text_width(name, _SIZE) + 2 * _MARGIN


def _stroke(number: int) -> str:
    colour, dashes = _STYLES[number % len(_STYLES)]
    return f'stroke="{colour}"' + (f' stroke-dasharray="{dashes}"' if dashes else "")


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{INK}"{style}>{escape(text)}</text>'


class _Axes:
    """Where the numbers of a panel are on the plane."""

    def __init__(self, panel: Panel, left: float, top: float) -> None:
        self._panel, self._left, self._top = panel, left, top
        points = [point for series in panel.series for point in series]
        self._counts = sorted({point.count for point in points})
        percents = [point.percent + end for point in points for end in (-point.deviation, point.deviation)]
        percents += [] if panel.level is None else [panel.level]
        self._lowest = min(90, max(0, math.floor(min(percents) / 10) * 10))
        self._highest = min(100, max(math.ceil(max(percents) / 10) * 10, self._lowest + 10))

    def drawn(self) -> Iterator[str]:
        """The panel, from the back to the front."""
        right, bottom = self._left + _WIDTH, self._top + _HEIGHT
        yield _text(self._left, self._top - 10, self._panel.title, ' font-weight="bold"')
        for percent in range(self._lowest, self._highest + 1, 10):
            y = self._y(percent)
            yield f'<line x1="{self._left:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}" stroke="{RULE}"/>'
            yield _text(self._left - 6, y + 4, str(percent), ' text-anchor="end"')
        for count in self._counts:
            yield _text(self._x(count), bottom + 16, f"{count:,}", ' text-anchor="middle"')
        if self._panel.level is not None:
            y = self._y(self._panel.level)
            line = f'x1="{self._left:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}"'
            yield f'<line {line} stroke-width="2" {_LEVEL}/>'
        for number, series in enumerate(self._panel.series):
            yield from self._series(series, number)

    def _series(self, series: Sequence[Point], number: int) -> Iterator[str]:
        colour, _ = _STYLES[number % len(_STYLES)]
        places = [(self._x(point.count), self._y(point.percent), point) for point in series]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
        yield f'<polyline points="{path}" fill="none" stroke-width="2" {_stroke(number)}/>'
        for x, y, point in places:
            reach = self._y(0) - self._y(point.deviation)
            yield f'<line x1="{x:.1f}" y1="{y - reach:.1f}" x2="{x:.1f}" y2="{y + reach:.1f}" stroke="{colour}"/>'
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'

    def _x(self, count: int) -> float:
        """A single number stands in the middle."""
        first, last = math.log(self._counts[0]), math.log(self._counts[-1])
        return self._left + _WIDTH * ((math.log(count) - first) / (last - first) if last > first else 0.5)

    def _y(self, percent: float) -> float:
        return self._top + _HEIGHT * (self._highest - percent) / (self._highest - self._lowest)
