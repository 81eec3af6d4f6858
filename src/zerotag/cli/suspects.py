"""`zerotag suspects`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from zerotag.cli.options import (
    Device,
    LabelOptions,
    Overwrite,
    loaded,
    require_absent,
    require_no_input,
    say,
)
from zerotag.text.printable import counted, one_line

SHOWN = 20


def suspects(
    *,
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="Model folder that `zerotag train` wrote.")],
    train: Annotated[Path, typer.Argument(metavar="TRAIN", help="Sentences with labels, of which some may be wrong.")],
    out: Annotated[Path | None, typer.Option(help="File for all of them, as JSON lines.")] = None,
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="How many. [those that are more likely wrong than right]")
    ] = None,
    labels: LabelOptions,
    device: Device = None,
    overwrite: Overwrite = False,
) -> None:
    """Find sentence labels that may be wrong.

    The words that speak against them are named. Each label is judged by a classifier on the model's features that has
    not seen it.
    """
    from zerotag.active.suspects import suspects as doubt
    from zerotag.io import read
    from zerotag.io.files import whole_file
    from zerotag.io.writers.jsonl import encode

    require_absent(out, overwrite)
    if out is not None:
        require_no_input(out, [train], "--out")
    labeller = loaded(model, device)
    columns = labels.columns(labeller.manifest.model.segmenter)
    found = doubt(labeller, read(train, columns=columns, label_names=labeller.label_names), n=n)
    if out is not None:
        with whole_file(out) as file:
            file.writelines(encode(asdict(one)) + "\n" for one in found)
    for one in found[:SHOWN]:
        said = one.label if one.given else f"not {one.label}"
        against = f"; see {', '.join(map(repr, one.words))}" if one.words else ""
        typer.echo(one_line(f"{one.doubt:.2f} sentence {one.number + 1}, {said}: {one.text[:80]}{against}"))
    say(f"{counted(len(found), 'label')} to look at{'' if out is None else f', in {out}'}")
