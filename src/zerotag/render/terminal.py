"""Sentences for the terminal, with colours or with brackets, and tables through rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from zerotag.io.writers import WriterSpec
from zerotag.io.writers.style import Style
from zerotag.render.pieces import pieces
from zerotag.render.scale import position
from zerotag.render.tables import Table
from zerotag.text.printable import one_line
from zerotag.types import Labelled, Word

if TYPE_CHECKING:
    import rich.table

# Per hue, in the 256 colours every terminal has: letters that can be read on black and on white for words on
# their way to the threshold, then two backgrounds for black letters. More labels than hues use them again.
_HUES = (
    ("38;5;130", "38;5;16;48;5;215", "38;5;16;48;5;208"),
    ("38;5;32", "38;5;16;48;5;117", "38;5;16;48;5;75"),
    ("38;5;28", "38;5;16;48;5;114", "38;5;16;48;5;78"),
    ("38;5;162", "38;5;16;48;5;218", "38;5;16;48;5;211"),
    ("38;5;98", "38;5;16;48;5;183", "38;5;16;48;5;141"),
    ("38;5;94", "38;5;16;48;5;227", "38;5;16;48;5;220"),
    ("38;5;30", "38;5;16;48;5;116", "38;5;16;48;5;80"),
    ("38;5;244", "38;5;16;48;5;252", "38;5;16;48;5;248"),
)
_STEPS = (0.25, 0.5, 0.75)
_BOLD, _DIM, _BOLD_UNDERLINED = "1", "2", "1;4"


def render(results: Iterable[Labelled], style: Style) -> Iterator[str]:
    """The results as one line per sentence: score, verdict, text."""
    width = max(len(one_line(name)) for name in (*style.label_names, style.negative))
    for labelled in results:
        verdict = one_line("|".join(labelled.labels) or style.negative)
        beside = f"{labelled.score:z.2f} {verdict:<{width}}"
        if style.colour:
            beside = _ansi(beside, _BOLD if labelled.labels else _DIM)
        text = "".join(
            one_line(piece) if word is None else _word(one_line(piece), word, style) for piece, word in pieces(labelled)
        )
        yield f"{beside}  {text}\n"


def rich_table(table: Table) -> rich.table.Table:
    """The header and rows of a table as rich draws them: a caption or note would be broken at the table's width."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD)
    for index, cell in enumerate(table.header):
        drawn.add_column(Text(one_line(cell)), justify="left" if index == 0 else "right")
    for row in table.rows:
        drawn.add_row(*(Text(one_line(cell)) for cell in row))
    return drawn


def _word(text: str, word: Word, style: Style) -> str:
    if word.labels and len(style.label_names) > 1:
        text = f"{text}:{one_line('|'.join(word.labels))}"
    if not style.colour:
        return f"[{text}]" if word.labels else text
    strength, hue = _strongest(word, style)
    return shaded(text, strength, marked=bool(word.labels), hue=hue)


def shaded(text: str, strength: float, *, marked: bool, hue: tuple[str, str, str] = _HUES[0]) -> str:
    """Text in a colour that grows with its strength, from 0 to 1; bold and underlined if it is marked."""
    codes = [_BOLD_UNDERLINED] if marked else []
    step = sum(strength >= start for start in _STEPS)
    if step:
        codes.append(hue[step - 1])
    return _ansi(text, ";".join(codes)) if codes else text


def _strongest(word: Word, style: Style) -> tuple[float, tuple[str, str, str]]:
    """How strong the strongest label is, of those the word was given if it was given any, and its hue."""
    strengths = [
        (position(word.scores[name], rule.word_threshold), _HUES[index % len(_HUES)])
        for index, (name, rule) in enumerate(zip(style.label_names, style.rules, strict=True))
        if name in (word.labels or style.label_names)
    ]
    return max(strengths, key=lambda pair: pair[0])


def _ansi(text: str, codes: str) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m"


WRITER = WriterSpec(suffix=".txt", render=render)
