"""`zerotag train --from`: a model goes on learning from labelled words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from zerotag.cli.options import say
from zerotag.errors import ZerotagError
from zerotag.render.progress import TrainingProgress, duration

if TYPE_CHECKING:
    from zerotag.io import Columns


def update_model(
    model: Path,
    words: Sequence[Path] | None,
    train: Sequence[Path],
    out: Path,
    columns: Columns,
    device: str | None,
    *,
    strict: bool,
) -> None:
    """Write what a model becomes by labelled words and, where there are some, sentences with labels."""
    from zerotag.io import read_corrected
    from zerotag.io.reading import read_training_data
    from zerotag.labeller import WordLabeller
    from zerotag.training.few_labels import update

    if not words:
        raise ZerotagError("--from goes on from a model with labelled words: name a file that has some with --words")
    start = time.monotonic()
    labeller = WordLabeller.from_pretrained(model, device=device)
    names = labeller.label_names
    columns = replace(columns, segmenter=labeller.manifest.model.segmenter)
    examples = read_corrected(words, columns=columns, label_names=names).examples
    parts = [read_training_data(path, columns=columns, label_names=names, strict=strict).corpus for path in train]
    corpus = None if not parts else replace(parts[0], examples=tuple(e for part in parts for e in part.examples))
    with TrainingProgress(say) as progress:
        updated = update(labeller, examples, corpus, on_progress=progress.show)
    updated.save_pretrained(out)
    typer.echo(
        f"{out}: learnt from {updated.manifest.supervision}, going on from {model}, "
        f"in {duration(time.monotonic() - start)}"
    )
