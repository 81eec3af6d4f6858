"""`zerotag label`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from zerotag.cli.options import (
    Device,
    InputFormat,
    Method,
    Overwrite,
    TextColumn,
    Threshold,
    columns,
    loaded,
    require_absent,
)
from zerotag.errors import ZerotagError

_BY_SUFFIX = {".jsonl": "jsonl", ".tsv": "tsv", ".html": "html", ".txt": "text"}


def label(
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="Model folder that `zerotag train` wrote.")],
    source: Annotated[
        Path | None, typer.Argument(metavar="INPUT", help="Text to label; - or nothing for standard input.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write. [standard output]")] = None,
    output_format: Annotated[
        str | None,
        typer.Option("--format", help="jsonl, tsv, html or text. [by --out; text in a terminal, else jsonl]"),
    ] = None,
    method: Method = "native",
    threshold: Threshold = None,
    text_column: TextColumn = "text",
    input_format: InputFormat = None,
    device: Device = None,
    overwrite: Overwrite = False,
) -> None:
    """Label the words of new text."""
    require_absent(out, overwrite)
    from zerotag.render import FORMATS, Style

    chosen = _output_format(output_format, out)
    if chosen not in FORMATS:
        raise ZerotagError(f"unknown format {chosen!r}; allowed: {', '.join(FORMATS)}")

    from zerotag.data import stream
    from zerotag.scorers import create
    from zerotag.types import Sentence, decide

    labeller = loaded(model, device, threshold)
    scorer = create(method, labeller)
    typing = source in (None, Path("-")) and sys.stdin.isatty()
    if typing:
        typer.echo("Type sentences, one per line; Ctrl-D ends.", err=True)
    sentences = stream(source, columns=columns(text_column, None, None, input_format))
    # One who types wants an answer to each line; a file goes through in large groups.
    groups: Iterable[Iterable[Sentence]] = ([sentence] for sentence in sentences) if typing else [sentences]
    scored = chain.from_iterable(map(scorer.score, groups))
    results = (decide(one, labeller.label_names, labeller.rules) for one in scored)
    style = Style(
        label_names=labeller.label_names,
        rules=labeller.rules,
        title=f"{', '.join(labeller.label_names)}: {source.name if source else 'standard input'}",
        negative=labeller.manifest.negative,
        colour=out is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ,
    )
    _write(FORMATS[chosen](results, style), out)


def _output_format(asked: str | None, out: Path | None) -> str:
    if asked is not None:
        return asked
    if out is not None:
        return _BY_SUFFIX.get(out.suffix, "jsonl")
    return "text" if sys.stdout.isatty() else "jsonl"


def _write(chunks: Iterator[str], out: Path | None) -> None:
    if out is not None:
        from zerotag.storage import whole_file

        with whole_file(out) as file:
            file.writelines(chunks)
        return
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    for chunk in chunks:
        sys.stdout.write(chunk)
        sys.stdout.flush()
