"""Results and progress as notebooks show them: the markup and style sheets of reports, on whatever page they stand."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import islice
from typing import Any

from zerotag.render.markup import labels_of, legend, sentence, style_sheets
from zerotag.types import Labelled

SHOWN = 20  # results of a list
# Notebooks have themes of their own, and say so on their body; what is drawn has its ground with it.
_FRAME = """
.zerotag { background: var(--page); color: var(--ink); color-scheme: light dark; font: .9375rem/1.5 var(--sans);
  max-width: 62rem; padding: .5rem .75rem; border-radius: .5rem; }
:is([data-jp-theme-light="true"], .vscode-light) .zerotag { color-scheme: light; }
:is([data-jp-theme-light="false"], .vscode-dark) .zerotag { color-scheme: dark; }
"""


def fragment(result: Labelled) -> str:
    """One result: its verdict, and its words shaded by their scores; those that have a label are underlined."""
    return fragments([result], [*result.scores])


def fragments(results: Sequence[Labelled], label_names: Sequence[str]) -> str:
    """A list of results, the first ones if there are many."""
    labels = labels_of(label_names)
    rows = "".join(f"<li>{sentence(one, labels, number)}</li>" for number, one in enumerate(islice(results, SHOWN), 1))
    left = len(results) - SHOWN
    more = f'<p class="quiet">and {left:,} more</p>' if left > 0 else ""
    style = f"<style>@scope (.zerotag) {{\n{style_sheets('theme', 'sentences')}}}\n{_FRAME}</style>"
    return f'<div class="zerotag">{style}{legend(labels)}<ol class="sentences">{rows}</ol>{more}</div>'


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
