"""`zerotag data`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def data(
    name: Annotated[str, typer.Argument(help="fce, bea2019 or conll2010.")],
    source: Annotated[Path, typer.Argument(help="Folder with the official release, as its makers hand it out.")],
    out: Annotated[Path, typer.Option(help="Folder for train.tsv, dev.tsv and test.tsv.")],
) -> None:
    """Turn a research corpus into checked splits."""
    from zerotag.research.corpora import convert

    conversion = convert(name, source, out)
    for part, counts in conversion.counts.items():
        typer.echo(f"{conversion.folder / part}.tsv: {counts}")
