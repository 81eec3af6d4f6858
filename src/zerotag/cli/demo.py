"""`zerotag demo`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.cli.options import Device, chosen_device, say
from zerotag.cli.tables import show_table
from zerotag.render.progress import TrainingProgress, duration
from zerotag.text.printable import one_line

if TYPE_CHECKING:
    from zerotag.labeller import WordLabeller

SHOWN = 8  # sentences of each held-out part in the terminal


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the model and the report.")] = Path("zerotag-demo"),
    improve: Annotated[
        bool, typer.Option("--improve", help="Also correct 20 suggested sentences, learn from them, and compare.")
    ] = False,
    device: Device = None,
) -> None:
    """See it work on a small corpus that ships with zerotag.

    Trains on sentences that hedge or do not, and marks the words that hedge in new ones.
    """
    from zerotag.io.model_folder import check_place

    check_place(out / "model")
    check_place(out / "improved")
    from zerotag.demo import PARTS, measure, train, write_report
    from zerotag.evaluation.tables import score_table
    from zerotag.io.writers.style import Style
    from zerotag.render import terminal

    typer.echo("Training: which of these sentences hedge? Nobody says which words do it.\n")
    start = time.monotonic()
    with TrainingProgress(say) as progress:
        labeller = train(device=chosen_device(device), on_progress=progress.show)
    labeller.save_pretrained(out / "model")
    typer.echo(f"Trained in {duration(time.monotonic() - start)}.")
    measured = {part: measure(labeller, part) for part in PARTS}
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    style = Style.of(labeller.manifest, "Which words hedge?", colour=colour)
    for part, (report, results) in measured.items():
        typer.echo(f"\n{PARTS[part]}\n")
        shown = [result for result in results if result.labels][:SHOWN]
        for line in terminal.render(shown, style):
            typer.echo(line, nl=False)
        typer.echo()
        caption = f"All {len(results)} sentences of this part, against the hedge words marked by hand"
        show_table(score_table(report, caption))
    page = write_report(out / "report.html", measured, style)
    typer.echo(f"\nModel:  {out / 'model'}\nReport: {page}")
    if improve:
        _improve(labeller, out)
    typer.echo(f"Try it: zerotag label {out / 'model'}")


def _improve(labeller: WordLabeller, out: Path) -> None:
    from zerotag.demo.improve import comparison, improve

    improved = improve(labeller)
    typer.echo(f"\nImproving: {len(improved.suggestions)} new sentences that a person should look at, such as\n")
    for one in improved.suggestions[:SHOWN]:
        typer.echo(one_line(f"  {one.labelled.text}  ({one.reason})"))
    typer.echo("\nTheir words are corrected as they are marked in the corpus, and learnt from.\n")
    show_table(comparison(improved))
    improved.models["network updated"].save_pretrained(out / "improved")
    typer.echo(f"\nImproved model: {out / 'improved'}")
