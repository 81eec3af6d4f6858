"""`zerotag.train`: from what people hold to a word labeller. The recipe itself is in `recipe`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.io.in_memory import as_corpus
from zerotag.labeller import WordLabeller
from zerotag.render.progress import TrainingProgress
from zerotag.training import recipe
from zerotag.training.loop import Progress

if TYPE_CHECKING:
    import torch


def train(
    data: Any,
    labels: Iterable[Any] | None = None,
    *,
    text: str | None = None,
    label: str | Sequence[str] | None = None,
    negative: str | Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    dev: Any = None,
    encoder: str | Path | None = None,
    model: ModelConfig | None = None,
    training: TrainConfig | None = None,
    checkpoints: str | Path | None = None,
    device: str | torch.device | None = None,
    progress: bool | Callable[[Progress], None] = True,
) -> WordLabeller:
    """Train a word labeller on sentence labels. No word label can reach it: a corpus to train on has no place for one.

    Args:
        data: sentences with labels: the path of a file (CSV, TSV, JSON lines, Parquet, M2), a table of pandas, polars,
            pyarrow or datasets, a list of dictionaries, a `Corpus` as `zerotag.read` returns it, a list of texts (with
            `labels`), or a list of (text, label) pairs.
        labels: one for each text of a list: a label's name, a list of names, or True and False.
        text: the column of the file or table that has the text. Default: `text`.
        label: the column of the file or table that has the label, or several columns of 0 and 1; for lists, the name of
            the label that True means. Default: `label`.
        negative: the label, or labels, that mean "none". Default: `O`, `c`, `0`, `false` and `no`.
        label_names: what the labels 0, 1, 2 and so on mean, where they are the numbers of classes. A `ClassLabel` of
            datasets knows.
        dev: development sentences, of the same kind as `data`: they choose the epoch and the thresholds. By default a
            tenth of the training sentences is taken.
        encoder: the pre-trained encoder to start from: a folder, or a name on the Hugging Face hub. By default the
            packaged one, all-MiniLM-L6-v2, which knows English.
        model: other settings of the network.
        training: other settings of the training, such as `TrainConfig(seed=2)`.
        checkpoints: a folder to keep the unfinished training in. Called again with the same arguments after a kill, it
            goes on there and ends with the same model. Delete the folder once the model is saved.
        device: `cpu`, `cuda` or `cuda:N`. By default a GPU if there is one.
        progress: whether a bar is shown, in a terminal or a notebook (elsewhere lines are logged by the logger
            `zerotag`); or a function that is told after each step and each epoch.

    Returns:
        The labeller, ready to `label` texts; `save_pretrained` keeps it.

    Raises:
        ZerotagError: the data cannot be read or learnt from, or the encoder cannot be loaded.
        TypeError: `data` is of a kind that is not listed above.

    Example:
        >>> labeller = zerotag.train(frame, text="comment", label="toxic")  # doctest: +SKIP
        >>> labeller = zerotag.train(texts, labels, label="hedge")  # doctest: +SKIP
        >>> labeller.label("The pump may fail in winter.").spans  # doctest: +SKIP
    """
    held = partial(as_corpus, text=text, label=label, negative=negative, class_names=label_names)
    corpus = held(data, labels)
    dev_corpus = None if dev is None else held(dev, label_names=corpus.label_names)
    shown, tell = _progress(progress)
    with shown:
        return recipe.train(
            corpus,
            dev_corpus,
            model=_starting_from(encoder, model),
            training=training,
            checkpoints=None if checkpoints is None else Path(checkpoints),
            device=device,
            on_progress=tell,
        )


def _starting_from(encoder: str | Path | None, model: ModelConfig | None) -> ModelConfig:
    if encoder is None:
        return model or ModelConfig()
    if model is not None and model.encoder not in (str(encoder), ModelConfig().encoder):
        raise ZerotagError(f"encoder is {str(encoder)!r} and model has {model.encoder!r}: name one of them")
    return replace(model or ModelConfig(), encoder=str(encoder))


def _progress(
    progress: bool | Callable[[Progress], None],
) -> tuple[AbstractContextManager[object], Callable[[Progress], None]]:
    if callable(progress):
        return nullcontext(), progress
    if not progress:
        return nullcontext(), lambda _: None
    bar = TrainingProgress()
    return bar, bar.show
