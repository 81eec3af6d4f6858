"""`zerotag train`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zerotag.cli.interrupts import between_steps
from zerotag.cli.options import (
    Device,
    InputFormat,
    LabelColumns,
    LabelName,
    LabelNames,
    Negative,
    Overwrite,
    TextColumn,
    chosen_device,
    columns,
    require_absent,
    say,
)
from zerotag.cli.training_summary import about_data, about_words
from zerotag.cli.update import update_model
from zerotag.config import HEADS, PRESETS, ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.render.progress import TrainingProgress, duration
from zerotag.text.printable import one_line
from zerotag.text.segmentation import SEGMENTERS
from zerotag.types import Rule

if TYPE_CHECKING:
    from zerotag.io import Columns
    from zerotag.labeller import WordLabeller
    from zerotag.training.recipe import Progress
    from zerotag.types import Corpus, Example

_ENCODERS = ", ".join(f"{name} {model.encoder}" for name, (model, _) in PRESETS.items())


def train(  # noqa: C901 (a branch for each kind of training)
    out: Annotated[Path, typer.Option(help="Folder for the model.")],
    train: Annotated[
        list[Path] | None,
        typer.Argument(metavar="TRAIN...", help="Sentences with labels: .tsv, .csv, .jsonl, .parquet or .m2."),
    ] = None,
    words: Annotated[
        list[Path] | None,
        typer.Option("--words", help="Some sentences with labels on words, to learn from as well; may be repeated."),
    ] = None,
    start: Annotated[
        Path | None, typer.Option("--from", help="Model to go on from with --words; TRAIN may then be left out.")
    ] = None,
    dev: Annotated[Path | None, typer.Option(help="Development sentences. [a tenth of the training ones]")] = None,
    preset: Annotated[str, typer.Option(help=f"Settings to start from: {', '.join(PRESETS)}.")] = "default",
    encoder: Annotated[
        str | None,
        typer.Option(
            help=f"Encoder: a folder, a name on the Hugging Face hub, bilstm:VECTORS. [the preset's: {_ENCODERS}]"
        ),
    ] = None,
    segmenter: Annotated[
        str | None, typer.Option(help=f"What splits texts into words: {', '.join(SEGMENTERS.names())}. [standard]")
    ] = None,
    head: Annotated[
        str | None, typer.Option(help=f"{', '.join(HEADS.names())}; cls is a plain sentence classifier.")
    ] = None,
    depth: Annotated[
        str | None,
        typer.Option(help="Layer to read; auto: half of the encoder's, which teachers read at several depths."),
    ] = None,
    beta: Annotated[float | None, typer.Option(help="Sharpness of the attention.")] = None,
    gamma: Annotated[float | None, typer.Option(help="Weight of the two attention losses.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the training sentences.")] = None,
    teacher_epochs: Annotated[
        int | None, typer.Option(help="Passes of the teacher that finds the words; 0: none, as in the paper.")
    ] = None,
    teachers: Annotated[
        int | None, typer.Option(help="How many of them, each from a seed of its own; their words are averaged. [1]")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(help="Sentences per step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Peak learning rate.")] = None,
    patience: Annotated[int | None, typer.Option(help="Epochs without improvement before stopping.")] = None,
    seed: Annotated[int | None, typer.Option(help="Everything random follows from it.")] = None,
    text_column: TextColumn = "text",
    label_column: LabelColumns = None,
    negative: Negative = None,
    input_format: InputFormat = None,
    exclusive: Annotated[
        bool | None,
        typer.Option(
            "--exclusive/--independent",
            help="Whether labels exclude one another: a sentence has one. [if every one has exactly one of several]",
        ),
    ] = None,
    label_name: LabelName = None,
    label_names: LabelNames = None,
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
) -> None:
    """Train a word labeller on sentence labels.

    With --words, labelled words of some sentences correct it. Rows that are empty or broken are counted and left out.
    Killed or stopped, the same command goes on where it was.
    """
    from zerotag.io.files import delete_folder
    from zerotag.io.model_folder import check_place

    check_place(out)
    if start is not None:
        require_absent(out, overwrite)
        chosen = columns(text_column, label_column, negative, input_format, label_name, label_names)
        update_model(start, words, train or [], dev, out, chosen, chosen_device(device), strict=strict)
        return
    if not train:
        raise ZerotagError("no training sentences: name a file, or a model to go on from with --from and --words")
    unfinished = out.with_name(out.name + ".partial")
    if not _only_tidying_up_is_left(unfinished):
        require_absent(out, overwrite)
    model_config, train_config = _configs(
        preset,
        {
            "encoder": encoder,
            "head": head,
            "segmenter": segmenter,
            "depth": _depth(depth),
            "beta": beta,
        },
        {
            "gamma": gamma,
            "epochs": epochs,
            "teacher_epochs": teacher_epochs,
            "teachers": teachers,
            "batch_size": batch_size,
            "learning_rate": learning_rate,
            "patience": patience,
            "seed": seed,
        },
        forget_depth=depth == "auto",
    )
    chosen_columns = columns(
        text_column, label_column, negative, input_format, label_name, label_names, model_config.segmenter
    )
    from zerotag.io import read_corrected

    corpus, dev_corpus, remarks, left_out = _read(train, dev, chosen_columns, strict=strict)
    from zerotag.training.exclusive import are_exclusive, exclusive_rules
    from zerotag.training.loggers import told
    from zerotag.training.recipe import train as train_labeller

    exclude = are_exclusive(corpus, "auto" if exclusive is None else exclusive)
    if len(corpus.label_names) > 1 and all(any(example.labels) for example in corpus.examples):
        how = "as classes of which a sentence has one; --independent learns them apart" if exclude else "apart"
        files = ", ".join(map(str, train))
        say(
            f"{files}: every sentence has one of the labels {one_line(', '.join(corpus.label_names))}, and all are "
            f"learnt, {how}; if one of them means that there is no label, say so with --negative"
        )

    examples = None if words is None else read_corrected(words, columns=chosen_columns, label_names=corpus.label_names)
    started = time.monotonic()
    try:
        with (
            TrainingProgress(say) as progress,
            between_steps() as stop,
            told(log_to or (), asdict(model_config) | asdict(train_config), progress.show) as tell,
        ):

            def show(reached: Progress) -> None:
                if stop.asked:
                    raise KeyboardInterrupt
                while remarks:  # not before it is known that the training goes ahead
                    say(one_line(remarks.pop(0)))
                tell(reached)

            labeller = train_labeller(
                corpus,
                dev_corpus,
                model=model_config,
                training=train_config,
                checkpoints=unfinished,
                device=chosen_device(device),
                on_progress=show,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; the same command goes on from {unfinished}") from None
    except ZerotagError as error:
        raise ZerotagError(f"{error} ({left_out})") if left_out and remarks else error from None
    if exclude:
        labeller = labeller.with_rules(exclusive_rules(labeller.rules, corpus))
    if examples is not None:
        from zerotag.training.few_labels import update

        with TrainingProgress(say) as progress:
            labeller = update(labeller, examples.examples, corpus, dev_corpus, on_progress=progress.show)
    labeller.save_pretrained(out)
    delete_folder(unfinished)
    settings = labeller.manifest.model
    if train_config.calibrated and settings.scores_words:
        _tell_of_thresholds_by_nothing(labeller)
    f1 = labeller.manifest.scores["dev sentence F1"]
    typer.echo(
        f"{out}: labels {one_line(', '.join(labeller.label_names))}; depth {settings.depth} of {settings.encoder}; "
        f"dev sentence F1 {100 * f1:.1f}; trained in {duration(time.monotonic() - started)}"
    )
    if settings.scores_words:
        for line in about_words(labeller, corpus):
            typer.echo(line)
    typer.echo(f"next: zerotag label {shlex.quote(str(out))} FILE --out labelled.csv")


def _read(
    train: Sequence[Path], dev: Path | None, chosen: Columns, *, strict: bool
) -> tuple[Corpus[Example], Corpus[Example] | None, list[str], str]:
    """The corpora to train on and to develop by, what is to be said of them, and how much was left out, if it was."""
    from zerotag.io.reading import read_training_data
    from zerotag.io.training_data import overlap

    first, *others = train
    found = read_training_data(first, columns=chosen, strict=strict)
    remarks = [*about_data(first, found)]
    left_out = " ".join(map(str.strip, remarks[:2])) if found.problems else ""
    corpus = found.corpus
    for other in others:
        more = read_training_data(other, columns=chosen, label_names=corpus.label_names, strict=strict)
        remarks += about_data(other, more)
        corpus = replace(corpus, examples=(*corpus.examples, *more.corpus.examples))
    if dev is None:
        return corpus, None, remarks, left_out
    dev_found = read_training_data(dev, columns=chosen, label_names=corpus.label_names, strict=strict)
    remarks += about_data(dev, dev_found)
    if shared := overlap(corpus, dev_found.corpus):
        remarks.append(
            f"{dev}: {shared:,} of {len(dev_found.corpus):,} sentences are in {', '.join(map(str, train))}, too, "
            "and say little of others"
        )
    return corpus, dev_found.corpus, remarks, left_out


def _tell_of_thresholds_by_nothing(labeller: WordLabeller) -> None:
    for name, rule in zip(labeller.label_names, labeller.rules, strict=True):
        if rule == Rule():
            typer.echo(
                f"label {name!r}: its thresholds are 0.5, as the development sentences all have it or all lack it; "
                "give more sentences, or some of both kinds with --dev",
                err=True,
            )


def _only_tidying_up_is_left(unfinished: Path) -> bool:
    """Whether a training has come to its end there: then the model may be its own."""
    if not unfinished.exists():
        return False
    from zerotag.training.checkpoints import position_in

    return position_in(unfinished).finished


def _configs(
    preset: str, model: dict[str, Any], training: dict[str, Any], *, forget_depth: bool
) -> tuple[ModelConfig, TrainConfig]:
    if preset not in PRESETS:
        raise ZerotagError(f"unknown preset {preset!r}; there are: {', '.join(PRESETS)}")
    model_config, train_config = PRESETS[preset]
    if forget_depth:
        model_config = replace(model_config, depth=None)
    return (
        replace(model_config, **{name: value for name, value in model.items() if value is not None}),
        replace(train_config, **{name: value for name, value in training.items() if value is not None}),
    )


def _depth(text: str | None) -> int | None:
    if text is None or text == "auto":
        return None
    if not text.isascii() or not text.isdigit():
        raise ZerotagError(f"depth {text!r} is neither a number of layers nor auto")
    return int(text)
