"""The settings of a training as options of `zerotag train`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any, TypeVar

import typer

from zerotag.config import HEADS, ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.presets import PRESETS, preset
from zerotag.text.segmentation import SEGMENTERS

Config = TypeVar("Config", ModelConfig, TrainConfig)

_ENCODERS = ", ".join(f"{name} {model.encoder}" for name, (model, _) in PRESETS.items())


@dataclass(frozen=True)
class SettingOptions:
    """A preset, and what is to differ from it; the names are those of the settings."""

    preset: Annotated[str, typer.Option(help=f"Settings to start from: {', '.join(PRESETS)}.")] = "default"
    encoder: Annotated[
        str | None,
        typer.Option(
            help=f"Encoder: a folder, a name on the Hugging Face hub, bilstm:VECTORS. [the preset's: {_ENCODERS}]"
        ),
    ] = None
    segmenter: Annotated[
        str | None, typer.Option(help=f"What splits texts into words: {', '.join(SEGMENTERS.names())}. [standard]")
    ] = None
    head: Annotated[
        str | None, typer.Option(help=f"{', '.join(HEADS.names())}; cls is a plain sentence classifier.")
    ] = None
    depth: Annotated[
        str | None,
        typer.Option(help="Layer that the head reads; those above are dropped. [auto: half of them, or all for cls]"),
    ] = None
    beta: Annotated[float | None, typer.Option(help="Sharpness of the attention.")] = None
    gamma: Annotated[float | None, typer.Option(help="Weight of the two attention losses.")] = None
    epochs: Annotated[int | None, typer.Option(help="Passes over the training sentences.")] = None
    teacher_epochs: Annotated[
        int | None,
        typer.Option(help="Passes of the teacher, whose pseudo-labels are learnt; 0: no teacher, as in the paper."),
    ] = None
    teachers: Annotated[
        int | None, typer.Option(help="How many teachers, each from a seed of its own; pseudo-labels are averaged. [1]")
    ] = None
    batch_size: Annotated[int | None, typer.Option(help="Sentences per step.")] = None
    learning_rate: Annotated[float | None, typer.Option(help="Peak learning rate.")] = None
    patience: Annotated[
        int | None, typer.Option(help="Epochs in a row that do not count as best, after which it stops.")
    ] = None
    seed: Annotated[int | None, typer.Option(help="Everything random follows from it.")] = None

    def configs(self) -> tuple[ModelConfig, TrainConfig]:
        """The preset's settings with those that were given."""
        model, training = preset(self.preset)
        given: dict[str, Any] = {name: value for name, value in asdict(self).items() if value is not None}
        if self.depth is not None:
            given["depth"] = _depth(self.depth)
        return _with(model, given), _with(training, given)


def _with(config: Config, given: dict[str, Any]) -> Config:
    return replace(config, **{field.name: given[field.name] for field in fields(config) if field.name in given})


def _depth(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isascii() or not text.isdigit():
        raise ZerotagError(f"depth {text!r} is neither a number of layers nor auto")
    return int(text)
