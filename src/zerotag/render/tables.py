"""Tables as plain data, drawn by the terminal and the HTML page alike."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A caption, a header, rows of ready-made cells of which the first names the row, and a note below."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
