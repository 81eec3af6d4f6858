"""`zerotag explain`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.cli.options import Device, Overwrite, loaded, require_absent, told_apart
from zerotag.errors import ZerotagError
from zerotag.explain import SCORERS

if TYPE_CHECKING:
    from zerotag.labeller import Labeller
    from zerotag.render.heatmap import HeatMap


def explain(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL_DIR...", help="One or more model folders.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The sentence, in quotation marks.")],
    out: Annotated[Path | None, typer.Option(help="File to write: .png, .svg, .html or .json. [the terminal]")] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help=f"How words are scored; may be repeated: {', '.join(SCORERS.names())}. [native]"),
    ] = None,
    label: Annotated[list[str] | None, typer.Option(help="Label to show; may be repeated. [all]")] = None,
    device: Device = None,
    overwrite: Overwrite = False,
) -> None:
    """Show how models and methods score each word of a sentence.

    One row for each model and method, one column for each word; the shade says where the score is around the
    threshold or, for a method without one, how near it is to the sentence's highest.
    """
    require_absent(out, overwrite)
    from zerotag.render.heatmap.files import FILES

    if out is not None and out.suffix.lower() not in FILES:
        raise ZerotagError(f"{out} does not end in {', '.join(FILES)}: choose another name")
    if os.path.isfile(os.path.join(text, "zerotag.json")):  # noqa: PTH113, PTH118 (a Path minds names that are too long)
        raise ZerotagError(f"{text} is a model folder; the text to explain comes after it, in quotation marks")
    from zerotag.explain.side_by_side import explain as explained
    from zerotag.render.heatmap.figure import Figure

    maps, sentence = explained(_named(models, device), text, methods=method or ("native",), labels=label or ())
    if out is None:
        _show(maps)
        return
    Figure(sentence, tuple(maps)).save(out)


def _named(models: Sequence[Path], device: str | None) -> Iterator[tuple[str, Labeller]]:
    """The models, one in memory at a time, by as much of their paths as tells them apart; a single one has no name."""
    for model, name in zip(models, told_apart(models), strict=True):
        yield "" if len(models) == 1 else name, loaded(model, device)


def _show(maps: Sequence[HeatMap]) -> None:
    from zerotag.render.heatmap import terminal

    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for number, heat_map in enumerate(maps):
        if number:
            typer.echo()
        for line in terminal.lines(heat_map, width=shutil.get_terminal_size().columns, colour=colour):
            typer.echo(line)
