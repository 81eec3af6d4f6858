"""`zerotag demo`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from zerotag.cli.options import Device, chosen_device
from zerotag.cli.progress import TrainingProgress, duration

SHOWN = 8  # sentences of each held-out part in the terminal


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the model and the report.")] = Path("zerotag-demo"),
    device: Device = None,
) -> None:
    """Train on a small corpus of hedged sentences that ships with zerotag, and show what came out."""
    from rich.console import Console

    from zerotag.demo import PARTS, measure, train, write_report
    from zerotag.render import FORMATS, Style
    from zerotag.render.tables import score_table
    from zerotag.render.terminal import rich_table

    console = Console()
    console.print("Training on sentence labels: which of these sentences hedge? Nobody says which words do it.\n")
    start = time.monotonic()
    with TrainingProgress() as progress:
        labeller = train(device=chosen_device(device), on_progress=progress.show)
    labeller.save_pretrained(out / "model")
    console.print(f"Trained in {duration(time.monotonic() - start)}.\n")
    measured = {part: measure(labeller, part) for part in PARTS}
    style = Style(
        label_names=labeller.label_names,
        rules=labeller.rules,
        title="Which words hedge?",
        colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ,
    )
    for part, (report, results) in measured.items():
        console.print(f"[bold]{PARTS[part]}[/bold]")
        shown = [result for result in results if result.labels][:SHOWN]
        for line in FORMATS["text"](shown, style):
            sys.stdout.write(line)
        sys.stdout.flush()
        console.print(rich_table(score_table(report, f"{part}: measured against the hedge words marked by hand")))
    page = write_report(out / "report.html", measured, style)
    console.print(f"Model:  {out / 'model'}\nReport: {page}\n", highlight=False)
    console.print(f"Try it: zerotag label {out / 'model'}  (then type a sentence)", highlight=False)
