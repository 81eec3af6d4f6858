"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.decisions import check_threshold
from zerotag.errors import ZerotagError
from zerotag.explain import NATIVE, SCORERS
from zerotag.io.readers import READERS
from zerotag.text.segmentation import DEFAULT

if TYPE_CHECKING:
    from zerotag.io import Columns
    from zerotag.labeller import Labeller

TextColumn = Annotated[str, typer.Option(help="Column that holds the text, in CSV, JSONL and Parquet.")]
LabelColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--label-column", metavar="NAME", help="Column that holds the label; repeat it for several 0/1 columns. [label]"
    ),
]
Negative = Annotated[
    list[str] | None,
    typer.Option(metavar="VALUE", help="Label value that means 'none'; may be repeated. [O, c, 0, false, no]"),
]
LabelName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="What a 1 in the label column means. [the name of the column]"),
]
LabelNames = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES", help="What 0, 1, 2 ... in the label column mean, with commas between: calm,rude,sad."
    ),
]
InputFormat = Annotated[
    str | None, typer.Option(help=f"{', '.join(READERS.names())}. [by the suffix; text for standard input]")
]
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
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it exists.")]


def say(line: str) -> None:
    """Write a line about the work, beside its results."""
    typer.echo(line, err=True)


def columns(
    text_column: str,
    label_column: list[str] | None,
    negative: list[str] | None,
    input_format: str | None,
    label_name: str | None = None,
    label_names: str | None = None,
    segmenter: str = DEFAULT,
) -> Columns:
    """The shared input options as one object."""
    from zerotag.io import Columns

    return Columns(
        text=text_column,
        labels=tuple(label_column or ("label",)),
        negative=tuple(negative) if negative else None,
        format=input_format,
        label_name=label_name,
        class_names=None if label_names is None else tuple(name.strip() for name in label_names.split(",")),
        segmenter=segmenter,
    )


def chosen_device(name: str | None) -> str | None:
    """The device, if there is one of that name; None leaves the choice to the library."""
    if name is None or name == "cpu":  # neither needs torch, nor do exported models
        return name
    from zerotag.inference.torch_predictor import usable_device

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
