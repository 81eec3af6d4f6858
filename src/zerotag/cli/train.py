"""`zerotag train`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.cli.engine_options import EngineOptions
from zerotag.cli.interrupts import resumable
from zerotag.cli.options import (
    Device,
    LabelOptions,
    Overwrite,
    chosen_device,
    require_absent,
    say,
)
from zerotag.cli.training_options import SettingOptions
from zerotag.cli.training_summary import about_data, about_words
from zerotag.cli.update import update_model
from zerotag.errors import ZerotagError
from zerotag.presets import LEFT_OUT
from zerotag.render.progress import TrainingProgress, duration
from zerotag.text.printable import one_line

if TYPE_CHECKING:
    from zerotag.config import ModelConfig, TrainConfig
    from zerotag.io import Columns
    from zerotag.labeller import WordLabeller
    from zerotag.parallel.ray_pool import Cluster
    from zerotag.training.recipe import Progress
    from zerotag.types import Corpus, CorrectedExample, Example


def train(
    *,
    out: Annotated[Path, typer.Option(help="Folder for the model.")],
    train: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="TRAIN...", help="Sentences with labels: .csv, .xlsx, .jsonl, .json, .parquet, .tsv, .conll or .m2."
        ),
    ] = None,
    words: Annotated[
        list[Path] | None,
        typer.Option("--words", help="Some sentences with labels on words, to learn from as well; may be repeated."),
    ] = None,
    start: Annotated[
        Path | None, typer.Option("--from", help="Model to go on from with --words; TRAIN may then be left out.")
    ] = None,
    dev: Annotated[Path | None, typer.Option(help="Development sentences. [a tenth of the training ones]")] = None,
    settings: SettingOptions,
    labels: LabelOptions,
    exclusive: Annotated[
        bool | None,
        typer.Option(
            "--exclusive/--independent",
            help="Whether labels exclude one another: a sentence has one. [if every one has exactly one of several]",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at rows that cannot be used, instead of leaving them out.")
    ] = False,
    device: Device = None,
    log_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:WHERE]",
            help="Where the curves go while it trains: tensorboard, mlflow or wandb, with a folder, experiment or "
            "project after a colon; may be repeated.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    engine: EngineOptions,
) -> None:
    """Train a word labeller on sentence labels.

    With --words, labelled words of some sentences correct it. Rows that are empty or broken are counted and left out.
    With --engine ray, several --teachers learn side by side.
    Killed or stopped, the same command goes on where it was.
    """
    from zerotag.io.files import delete_folder
    from zerotag.io.model_folder import check_place

    check_place(out)
    cluster = engine.cluster()
    if start is not None:
        require_absent(out, overwrite)
        if cluster is not None:
            raise ZerotagError("--engine trains teachers side by side: with --from there are none")
        if dev is not None:
            raise ZerotagError("--dev: with --from, labelled words that are held out decide; leave it out")
        update_model(start, words, train or [], out, labels.columns(), chosen_device(device), strict=strict)
        return
    if not train:
        raise ZerotagError("no training sentences: name a file, or a model to go on from with --from and --words")
    unfinished = out.with_name(out.name + ".partial")
    if not _only_tidying_up_is_left(unfinished):
        require_absent(out, overwrite)
    model, training = settings.configs()
    if cluster is not None and (training.teachers or 1) == 1:
        raise ZerotagError("--engine trains teachers side by side: give --teachers 2 or more")
    columns = labels.columns(model.segmenter)
    data = _read(train, dev, columns, strict=strict)
    from zerotag.io import read_corrected
    from zerotag.training import cautions
    from zerotag.training.exclusive import are_exclusive

    exclude = are_exclusive(data.corpus, "auto" if exclusive is None else exclusive)
    _tell_of_labels(train, data.corpus, exclude=exclude)
    data.remarks.extend(cautions.about_data(data.corpus, data.dev, training))
    data.remarks.extend(caution for name, caution in LEFT_OUT.items() if name == settings.preset)
    examples = None if words is None else read_corrected(words, columns=columns, label_names=data.corpus.label_names)
    started = time.monotonic()
    labeller = _learnt(
        data, examples, unfinished, model, training, chosen_device(device), log_to or (), exclude, cluster
    )
    labeller.save_pretrained(out)
    delete_folder(unfinished)
    _tell_of_model(labeller, data.corpus, out, time.monotonic() - started)


@dataclass
class _Data:
    """The corpora to train on and to develop by, and what is to be said of them."""

    corpus: Corpus[Example]
    dev: Corpus[Example] | None
    remarks: list[str]
    left_out: str
    """How much, if some was."""


def _read(train: Sequence[Path], dev: Path | None, columns: Columns, *, strict: bool) -> _Data:
    from zerotag.io.reading import read_training_data
    from zerotag.io.training_data import overlap

    first, *others = train
    found = read_training_data(first, columns=columns, strict=strict)
    remarks = [*about_data(first, found)]
    left_out = " ".join(map(str.strip, remarks[:2])) if found.problems else ""
    corpus = found.corpus
    for other in others:
        more = read_training_data(other, columns=columns, label_names=corpus.label_names, strict=strict)
        remarks += about_data(other, more)
        corpus = replace(corpus, examples=(*corpus.examples, *more.corpus.examples))
    if dev is None:
        return _Data(corpus, None, remarks, left_out)
    dev_found = read_training_data(dev, columns=columns, label_names=corpus.label_names, strict=strict)
    remarks += about_data(dev, dev_found)
    if shared := overlap(corpus, dev_found.corpus):
        remarks.append(
            f"{dev}: {shared:,} of {len(dev_found.corpus):,} sentences are in {', '.join(map(str, train))}, too, "
            "and say little of others"
        )
    return _Data(corpus, dev_found.corpus, remarks, left_out)


def _tell_of_labels(train: Sequence[Path], corpus: Corpus[Example], *, exclude: bool) -> None:
    """Ask for --negative where a label may be the one that means none."""
    if len(corpus.label_names) > 1 and all(any(example.labels) for example in corpus.examples):
        how = "as classes of which a sentence has one; --independent learns them apart" if exclude else "apart"
        say(
            f"{', '.join(map(str, train))}: every sentence has one of the labels "
            f"{one_line(', '.join(corpus.label_names))}, and all are learnt, {how}; if one of them means that there is "
            "no label, say so with --negative"
        )


def _learnt(
    data: _Data,
    examples: Corpus[CorrectedExample] | None,
    unfinished: Path,
    model: ModelConfig,
    training: TrainConfig,
    device: str | None,
    log_to: Sequence[str],
    exclude: bool,
    cluster: Cluster | None,
) -> WordLabeller:
    """What is learnt from sentence labels and, if there are some, word labels."""
    from zerotag.training.api import learn

    with resumable(unfinished) as stop, TrainingProgress(say) as progress:

        def show(reached: Progress) -> None:
            stop.check()
            progress.show(reached)
            while data.remarks:  # not before it is known that the training goes ahead
                say(one_line(data.remarks.pop(0)))

        try:
            return learn(
                data.corpus,
                data.dev,
                None if examples is None else examples.examples,
                exclude=exclude,
                model=model,
                training=training,
                checkpoints=unfinished,
                device=device,
                on_progress=show,
                log_to=log_to,
                cluster=cluster,
            )
        except ZerotagError as error:
            raise ZerotagError(f"{error} ({data.left_out})") if data.left_out and data.remarks else error from None


def _tell_of_model(labeller: WordLabeller, corpus: Corpus[Example], out: Path, seconds: float) -> None:
    from zerotag.training import cautions

    settings = labeller.manifest.model
    for caution in cautions.about_model(labeller.manifest):
        say(caution)
    f1 = labeller.manifest.scores["dev sentence F1"]
    typer.echo(
        f"{out}: labels {one_line(', '.join(labeller.label_names))}; depth {settings.depth} of {settings.encoder}; "
        f"dev sentence F1 {100 * f1:.1f}; trained in {duration(seconds)}"
    )
    if settings.scores_words:
        for line in about_words(labeller, corpus):
            typer.echo(line)
    typer.echo(f"next: zerotag label {shlex.quote(str(out))} FILE --out labelled.csv")


def _only_tidying_up_is_left(unfinished: Path) -> bool:
    """Whether a training has come to its end there: then the model may be its own."""
    if not unfinished.exists():
        return False
    from zerotag.training.checkpoints import position_in

    return position_in(unfinished).finished
