"""Results and progress as notebooks show them: HTML with styles of its own, on whatever page it stands."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import islice
from typing import Any

from zerotag.render.pieces import pieces
from zerotag.text.printable import encodable
from zerotag.types import Labelled, Word

SHOWN = 20  # results of a list
# The tints and lines of the page, which can be read on light and on dark ground.
_HUES = (
    ("255,170,50", "#c05a00"),
    ("90,170,255", "#2f7fd0"),
    ("70,190,120", "#2b9a5e"),
    ("255,120,160", "#d04a7c"),
    ("170,140,255", "#8a62e0"),
    ("210,190,40", "#a08a00"),
    ("60,190,190", "#1f9aa0"),
    ("160,155,145", "#86807a"),
)
_FRAME = "font-family:system-ui,sans-serif;line-height:1.7;max-width:60rem"


def fragment(result: Labelled) -> str:
    """One result: its verdict, and its words shaded by their scores; those that have a label are underlined."""
    return f'<div style="{_FRAME}">{_legend([*result.scores])}{_sentence(result)}</div>'


def fragments(results: Sequence[Labelled], label_names: Sequence[str]) -> str:
    """A list of results, the first ones if there are many."""
    rows = "".join(f'<li style="margin:.3rem 0">{_sentence(one)}</li>' for one in islice(results, SHOWN))
    left = len(results) - SHOWN
    more = f'<p style="opacity:.7">and {left:,} more</p>' if left > 0 else ""
    return f'<div style="{_FRAME}">{_legend(label_names)}<ol style="padding-left:2rem">{rows}</ol>{more}</div>'


def _legend(label_names: Sequence[str]) -> str:
    names = (
        f'<span style="{_style(0.75, number, marked=True)}">{_text(name)}</span>'
        for number, name in enumerate(label_names)
    )
    return f'<div style="font-size:.85em;opacity:.85">{" ".join(names)}</div>'


def _sentence(result: Labelled) -> str:
    names = [*result.scores]
    text = "".join(_text(piece) if word is None else _word(piece, word, names) for piece, word in pieces(result))
    verdicts = (
        f'<span style="white-space:nowrap;{"font-weight:600" if name in result.labels else "opacity:.6"}">'
        f"{_text(name)} {score:z.2f}{' ✓' if name in result.labels else ''}</span>"
        for name, score in result.scores.items()
    )
    return f'<span dir="auto" style="white-space:pre-wrap">{text}</span> <small>{" ".join(verdicts)}</small>'


def _word(piece: str, word: Word, names: Sequence[str]) -> str:
    shown = word.label or max(word.scores, key=lambda name: word.scores[name])
    score = word.scores[shown]
    # The middle of the scale is the threshold: what has a label is in its upper half.
    shade = max(0.5, min(1.0, score)) if word.labels else max(0.0, min(0.5, score))
    tip = "\n".join(f"{value:z.3f} {name}" for name, value in word.scores.items())
    style = _style(shade, names.index(shown), marked=bool(word.labels))
    return f'<span style="{style}" title="{_text(tip)}">{_text(piece)}</span>'


def _style(shade: float, hue: int, *, marked: bool) -> str:
    tint, line = _HUES[hue % len(_HUES)]
    under = f";border-bottom:2px solid {line}" if marked else ""
    box = "border-radius:.2em;padding:.1em .15em;margin:0 -.15em"
    return f"background:rgba({tint},{shade * (0.4 + 0.6 * shade):.2f});{box}{under}"


def _text(text: str) -> str:
    return escape(encodable(text).replace("\0", "�"))


class Bar:
    """A progress bar in the output of a cell."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html: Any = HTML
        self._shown: Any = display(HTML(""), display_id=True)

    def draw(self, words: str, done: float, total: float | None) -> None:
        """Show how much is done, in words and as a bar."""
        share = "" if total is None else f' value="{done:g}" max="{total:g}"'
        self._update(f'<progress{share} style="vertical-align:middle"></progress> <small>{escape(words)}</small>')

    def close(self, *, transient: bool) -> None:
        """Leave the last state in the output, or nothing."""
        if transient:
            self._update("")

    def _update(self, html: str) -> None:
        self._shown.update(self._html(html))
