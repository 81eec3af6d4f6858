"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.decisions import check_threshold
from zerotag.errors import ZerotagError
from zerotag.explain import NATIVE, SCORERS
from zerotag.io.readers import READERS
from zerotag.text.printable import counted
from zerotag.text.segmentation import DEFAULT

if TYPE_CHECKING:
    from zerotag.io import Columns, Reject
    from zerotag.labeller import Labeller

Device = Annotated[str | None, typer.Option(help="cpu, cuda or cuda:N. [a GPU if there is one]")]
Method = Annotated[
    str,
    typer.Option(
        help=f"What scores words: {', '.join(SCORERS.names())}. native is the model's own; heads is heads:LAYER.HEAD."
    ),
]


def _checked(threshold: float | None) -> float | None:
    if threshold is not None:
        check_threshold(threshold)
    return threshold


Threshold = Annotated[
    float | None, typer.Option(help="Score from which a word has the label. [the model's]", callback=_checked)
]
SplitSentences = Annotated[
    bool, typer.Option("--split-sentences", help="Take texts for documents, and label each sentence by itself.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it exists.")]


@dataclass(frozen=True)
class TextOptions:
    """How the texts of a file are found."""

    text_column: Annotated[str, typer.Option(help="Column that holds the text, in CSV, JSONL and Parquet.")] = "text"
    input_format: Annotated[
        str | None, typer.Option(help=f"{', '.join(READERS.names())}. [by the suffix; text for standard input]")
    ] = None

    def columns(self, segmenter: str = DEFAULT, *, split_sentences: bool = False) -> Columns:
        """What a reader is told."""
        from zerotag.io import Columns

        return Columns(self.text_column, format=self.input_format, segmenter=segmenter, split_sentences=split_sentences)


@dataclass(frozen=True)
class LabelOptions(TextOptions):
    """How texts and their labels are found."""

    label_column: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Column that holds the label; repeat it for several 0/1 columns. [label]"),
    ] = None
    negative: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="Label value that means 'none'; may be repeated. [O, c, 0, false, no]"),
    ] = None
    label_name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What a 1 in the label column means, or what the file calls the only label that the model has. "
            "[the name of the column]",
        ),
    ] = None
    label_names: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="What 0, 1, 2 ... in the label column mean, with commas between: calm,rude,sad."
        ),
    ] = None

    def columns(self, segmenter: str = DEFAULT, *, split_sentences: bool = False) -> Columns:
        """What a reader is told."""
        return replace(
            super().columns(segmenter, split_sentences=split_sentences),
            labels=tuple(self.label_column or ("label",)),
            negative=tuple(self.negative) if self.negative else None,
            label_name=self.label_name,
            class_names=None
            if self.label_names is None
            else tuple(name.strip() for name in self.label_names.split(",")),
        )


def say(line: str) -> None:
    """Write a line about the work, beside its results."""
    typer.echo(line, err=True)


def say_left_out(left_out: Sequence[Reject]) -> None:
    """Tell of records that could not be used."""
    if left_out:
        say(f"{counted(len(left_out), 'record')} left out; the first: {left_out[0].reason}")


def chosen_device(name: str | None) -> str | None:
    """The device, if there is one of that name; None leaves the choice to the library."""
    if name is None or name == "cpu":  # neither needs torch, nor do exported models
        return name
    from zerotag.inference.devices import usable_device

    return str(usable_device(name))


def require_absent(output: Path | None, overwrite: bool) -> None:
    """Refuse to touch what is there already."""
    if output is not None and output.exists() and not overwrite:
        raise ZerotagError(f"{output} exists; choose another name or give --overwrite")


def require_no_input(output: Path | None, inputs: Iterable[Path], option: str) -> None:
    """Refuse to replace what is read."""
    if output is not None and output.resolve() in [one.resolve() for one in inputs]:
        raise ZerotagError(f"{output} is an input, which {option} would replace: choose another name")


def told_apart(paths: Sequence[Path]) -> list[str]:
    """A name for each path: as much of its end as tells it from the others."""
    resolved = [path.resolve() for path in paths]
    parts = next((n for n in range(1, 4) if len({path.parts[-n:] for path in resolved}) == len(resolved)), 0)
    return [str(Path(*path.parts[-parts:])) for path in resolved]


def loaded(model: Path, device: str | None, method: str = NATIVE, threshold: float | None = None) -> Labeller:
    """The model of a folder, deciding words by the thresholds of a method or by the one given."""
    from zerotag.explain import rules_for
    from zerotag.labeller import load

    labeller = load(model, device=chosen_device(device))
    labeller = labeller.with_rules(rules_for(method, labeller.rules))
    return labeller if threshold is None else labeller.with_threshold(threshold)
