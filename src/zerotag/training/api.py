"""`zerotag.train`: from what people hold to a word labeller. The recipe itself is in `recipe`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zerotag import presets
from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.io.corrections import as_corrected
from zerotag.io.in_memory import as_training_data
from zerotag.io.training_data import TrainingData, overlap
from zerotag.labeller import WordLabeller
from zerotag.render.progress import TrainingProgress
from zerotag.training import cautions, few_labels, recipe
from zerotag.training.exclusive import are_exclusive, exclusive_rules
from zerotag.training.loggers import Logger, logging_to
from zerotag.training.loop import Progress
from zerotag.types import Corpus, CorrectedExample, Example

if TYPE_CHECKING:
    import torch

    from zerotag.parallel.ray_pool import Cluster

_log = logging.getLogger("zerotag")


def train(
    data: Any,
    labels: Iterable[Any] | None = None,
    *,
    text: str | None = None,
    label: str | Sequence[str] | None = None,
    negative: str | Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    dev: Any = None,
    words: Any = None,
    encoder: str | Path | None = None,
    exclusive: bool | Literal["auto"] = "auto",
    start: WordLabeller | str | Path | None = None,
    segmenter: str | None = None,
    preset: str = "default",
    model: ModelConfig | None = None,
    training: TrainConfig | None = None,
    checkpoints: str | Path | None = None,
    device: str | torch.device | None = None,
    strict: bool = False,
    progress: bool | Callable[[Progress], None] = True,
    log_to: str | Logger | Sequence[str | Logger] = (),
) -> WordLabeller:
    """Train a word labeller on sentence labels.

    No word label can reach it, since a corpus to train on has no place for one, but through `words`: then some labelled
    words correct what sentence labels taught, and the model says of how many sentences.

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
        words: some sentences with labelled words: files, or what `zerotag.read_corrected` returns.
        encoder: the pre-trained encoder to start from: a folder, or a name on the Hugging Face hub. By default the
            packaged one, all-MiniLM-L6-v2, which knows English.
        exclusive: whether the labels exclude one another, so that a sentence or word gets one of them. By default they
            do if every training sentence has exactly one of several labels.
        start: a labeller, or the folder of one, that goes on learning from `words`, instead of a new one. `data` may
            then be None; where it is not, its sentences are learnt from as well.
        segmenter: what splits texts into words, by its registered name. Default: `standard`, for languages written with
            spaces. The model keeps it.
        preset: the settings to start from, by name: `default` is the recipe, `lexical` a baseline that knows nothing of
            a word but the word itself and is trained in seconds; `zerotag.presets.PRESETS` has them all.
        model: all settings of the network, instead of the preset's.
        training: all settings of the training, instead of the preset's, such as `TrainConfig(seed=2)`.
        checkpoints: a folder to keep the unfinished training in. Called again with the same arguments after a kill, it
            goes on there and ends with the same model. Delete the folder once the model is saved.
        device: `cpu`, `cuda` or `cuda:N`. By default a GPU if there is one.
        strict: refuse data of which a row cannot be used, since it is empty or broken. By default such rows are left
            out, and the logger `zerotag` warns of them.
        progress: whether a bar is shown, in a terminal or a notebook (elsewhere lines are logged by the logger
            `zerotag`); or a function that is told after each step and each epoch.
        log_to: where the curves go while it trains: `tensorboard`, `mlflow`, `wandb`, each also with a folder,
            experiment or project after a colon, as in `tensorboard:runs/first`; or a logger of your own, as
            `zerotag.training.loggers` describes it.

    Returns:
        The labeller, ready to `label` texts; `save_pretrained` keeps it.

    Raises:
        ZerotagError: the data cannot be read or learnt from, or the encoder cannot be loaded.
        TypeError: `data` is of a kind that is not listed above.

    Examples:
        >>> labeller = zerotag.train(frame, text="comment", label="toxic")  # doctest: +SKIP
        >>> labeller = zerotag.train(texts, labels, label="hedge")  # doctest: +SKIP
        >>> labeller.label("The pump may fail in winter.").spans  # doctest: +SKIP
    """
    earlier = _earlier(start, words, dev, device)
    preset_model, preset_training = presets.preset(preset)
    settings = _settings(model, preset_model, encoder, segmenter) if earlier is None else earlier.manifest.model
    training = training or preset_training
    held = partial(
        as_training_data,
        text=text,
        label=label,
        negative=negative,
        class_names=label_names,
        segmenter=settings.segmenter,
        strict=strict,
    )
    place = None if checkpoints is None else Path(checkpoints)
    shown, tell = _progress(progress)
    if earlier is not None:
        examples = as_corrected(words, label_names=earlier.label_names)
        found = None if data is None else held(data, labels, label_names=earlier.label_names)
        _warn_of_problems(found, None)
        with shown:
            corpus = None if found is None else found.corpus
            return few_labels.update(earlier, examples, corpus, checkpoints=place, on_progress=tell)
    found = held(data, labels)
    dev_found = None if dev is None else held(dev, label_names=found.corpus.label_names)
    _warn_of_problems(found, dev_found)
    _warn(caution for name, caution in presets.LEFT_OUT.items() if name == preset)
    _warn(cautions.about_data(found.corpus, None if dev_found is None else dev_found.corpus, training))
    with shown:
        labeller = learn(
            found.corpus,
            None if dev_found is None else dev_found.corpus,
            None if words is None else as_corrected(words, label_names=found.corpus.label_names),
            exclude=are_exclusive(found.corpus, exclusive),
            model=settings,
            training=training,
            checkpoints=place,
            device=device,
            on_progress=tell,
            log_to=log_to,
        )
    _warn(cautions.about_model(labeller.manifest))
    return labeller


def learn(
    corpus: Corpus[Example],
    dev: Corpus[Example] | None,
    words: Sequence[CorrectedExample] | None,
    *,
    exclude: bool,
    model: ModelConfig,
    training: TrainConfig,
    checkpoints: Path | None,
    device: str | torch.device | None,
    on_progress: Callable[[Progress], None],
    log_to: str | Logger | Sequence[str | Logger],
    cluster: Cluster | None = None,
) -> WordLabeller:
    """A labeller that has learnt from sentence labels and, where there are some, from labelled words.

    `exclude` says whether the labels exclude one another. All else is as in `train` here and in `recipe`.
    """
    with logging_to(log_to, asdict(model) | asdict(training), on_progress) as tell:
        labeller = recipe.train(
            corpus,
            dev,
            model=model,
            training=training,
            checkpoints=checkpoints,
            device=device,
            on_progress=tell,
            cluster=cluster,
        )
    if exclude:
        labeller = labeller.with_rules(exclusive_rules(labeller.rules, corpus))
    if words is None:
        return labeller
    return few_labels.update(labeller, words, corpus, checkpoints=checkpoints, on_progress=on_progress)


def _earlier(
    start: WordLabeller | str | Path | None, words: Any, dev: Any, device: str | torch.device | None
) -> WordLabeller | None:
    """The labeller to go on from, if there is one."""
    if start is None:
        return None
    if words is None:
        raise ZerotagError("start goes on from a labeller with labelled words: give sentences that have some as words")
    if dev is not None:
        raise ZerotagError("dev: with start, labelled words that are held out decide; leave it out")
    return start if isinstance(start, WordLabeller) else WordLabeller.from_pretrained(start, device=device)


def _warn_of_problems(found: TrainingData | None, dev: TrainingData | None) -> None:
    """Log the rows that were left out, and what looks odd in the others."""
    for which, one in (("training", found), ("development", dev)):
        if one is not None and one.problems:
            count, first = len(one.problems), one.problems[0]
            _log.warning("%s of %s %s rows are left out: %s", f"{count:,}", f"{one.rows:,}", which, first)
        for remark in () if one is None else one.remarks:
            _log.warning("%s data: %s", which, remark)
    if found is not None and dev is not None and (shared := overlap(found.corpus, dev.corpus)):
        _log.warning(
            "%s of %s development sentences are in the training data, too", f"{shared:,}", f"{len(dev.corpus):,}"
        )


def _warn(told: Iterable[str]) -> None:
    for caution in told:
        _log.warning("%s", caution)


def _settings(
    model: ModelConfig | None, of_preset: ModelConfig, encoder: str | Path | None, segmenter: str | None
) -> ModelConfig:
    """The settings of the network with those that were given by themselves."""
    named = {"encoder": None if encoder is None else str(encoder), "segmenter": segmenter}
    given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    for name, value in given.items():
        if model is not None and getattr(model, name) not in (value, getattr(ModelConfig(), name)):
            raise ZerotagError(f"{name} is {value!r} and model has {getattr(model, name)!r}: name one of them")
    return replace(model or of_preset, **given)


def _progress(
    progress: bool | Callable[[Progress], None],
) -> tuple[AbstractContextManager[object], Callable[[Progress], None]]:
    if callable(progress):
        return nullcontext(), progress
    if not progress:
        return nullcontext(), lambda _: None
    bar = TrainingProgress()
    return bar, bar.show
