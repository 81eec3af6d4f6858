"""Tables in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from zerotag.text.printable import one_line

if TYPE_CHECKING:
    from zerotag.render.tables import Table


def show_table(table: Table) -> None:
    """Draw a table between lines with its caption and its note."""
    from rich.console import Console

    from zerotag.render.terminal import rich_table

    typer.echo(one_line(table.caption))
    console = Console()
    with console.capture() as drawn:  # rich would leave in its own way when nobody reads on
        console.print(rich_table(table))
    typer.echo(drawn.get(), nl=False)
    for line in table.note.split("\n"):
        typer.echo(one_line(line))
