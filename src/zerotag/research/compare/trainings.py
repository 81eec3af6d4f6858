"""Trained models in the work folder of an experiment: each is trained once, whatever happens, and read by many runs."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from zerotag.config import ModelConfig
from zerotag.io.files import delete_folder, make_folders, whole_file
from zerotag.labeller import WordLabeller
from zerotag.research.compare.corpora import Splits, drawn
from zerotag.research.compare.experiment import Training
from zerotag.research.compare.provenance import moment
from zerotag.research.compare.record import TrainingRecord
from zerotag.research.compare.scoring import sentence_measures
from zerotag.research.compare.supervised import train_on_word_labels
from zerotag.training.checkpoints import position_in
from zerotag.training.exclusive import are_exclusive, exclusive_rules
from zerotag.training.recipe import Progress, train
from zerotag.types import Corpus, Example

_MODEL = "model"
_RECORD = "training.json"
_CHECKPOINTS = "checkpoints"
_SECONDS = "seconds"
_BEGAN = "began.json"


@dataclass(frozen=True, slots=True)
class Trained:
    """A model, and how it was trained."""

    labeller: WordLabeller
    record: TrainingRecord
    began: dict[str, str | None]
    """Date, commit and code when it began, which may be long before it ended."""


def training_folder(work: Path, corpus: str, sha256: str | None, training: Training, seed: int) -> Path:
    """The work folder of one training; other settings or data have another one, so that nothing stale is ever used."""
    settings = repr((training.model, training.training, training.sentences, training.word_labels, training.split_dev))
    contents = f"{sha256 or ''}{training.vectors_sha256 or ''}"
    told = hashlib.sha256(f"{settings}{contents}".encode()).hexdigest()[:8]
    return work / f"{corpus}.{training.name}.{seed}.{told}"


def obtain(
    training: Training,
    splits: Splits,
    seed: int,
    folder: Path,
    on_progress: Callable[[Progress], None],
    located: ModelConfig | None = None,
) -> Trained:
    """The trained model: from the folder if it was finished, trained to its end if it was begun or not.

    `located` says where the things are that it starts from, which are recorded by their names.
    """
    began = _began(folder / _BEGAN)
    if (folder / _MODEL).is_dir():
        record = TrainingRecord(**json.loads((folder / _RECORD).read_text(encoding="utf-8")))
        return Trained(WordLabeller.from_pretrained(folder / _MODEL), record, began)
    named = training.model
    training = replace(training, model=located or named)
    checkpoints = folder / _CHECKPOINTS
    clock = Clock(folder / _SECONDS)

    def tick(progress: Progress) -> None:
        clock.tick()
        on_progress(progress)

    if training.word_labels:
        gold = drawn(splits.train_with_word_labels, training.sentences, seed)
        labeller = train_on_word_labels(training, gold, splits.dev, seed, checkpoints, tick)
    else:
        labeller = train(
            drawn(splits.train, training.sentences, seed),
            None if training.split_dev else splits.dev,
            model=training.model,
            training=replace(training.training, seed=seed),
            checkpoints=checkpoints,
            on_progress=tick,
        )
    if are_exclusive(splits.train, "auto"):  # as `zerotag.train` has it
        labeller = labeller.with_rules(exclusive_rules(labeller.rules, splits.train))
    trained = Trained(labeller, _record(labeller, named, splits.dev, checkpoints, clock.seconds), began)
    with whole_file(folder / _RECORD) as file:
        json.dump(asdict(trained.record), file)
    if not training.word_labels:  # such a model is never saved: its checkpoints serve until its runs are made
        labeller.save_pretrained(folder / _MODEL)
        delete_folder(checkpoints)
    return trained


def _began(file: Path) -> dict[str, str | None]:
    """When and with what code a training began: now, if it has not."""
    if not file.exists():
        make_folders(file.parent)
        with whole_file(file) as new:
            json.dump(moment(), new)
    began: dict[str, str | None] = json.loads(file.read_text(encoding="utf-8"))
    return began


def _record(
    labeller: WordLabeller, named: ModelConfig, dev: Corpus[Example], checkpoints: Path, seconds: float
) -> TrainingRecord:
    position = position_in(checkpoints)  # a training ends with a checkpoint
    return TrainingRecord(
        model=asdict(labeller.manifest.model) | {"encoder": named.encoder},
        training=asdict(labeller.manifest.training),
        parameters=sum(p.numel() for p in labeller.network.parameters() if p.requires_grad),
        history=[asdict(epoch) for epoch in position.history],
        best_epoch=position.best_epoch + 1,
        dev=sentence_measures(labeller, dev),
        seconds=round(seconds, 1),
        sentences=labeller.manifest.sentences["train"],
    )


class Clock:
    """The seconds a training takes, those before a kill included: they are kept in a file while it ticks."""

    _every = 5.0

    def __init__(self, file: Path) -> None:
        self._file = file
        self._before = float(file.read_text()) if file.exists() else 0.0
        self._started = self._written = time.monotonic()

    @property
    def seconds(self) -> float:
        """So far, in all."""
        return self._before + time.monotonic() - self._started

    def tick(self) -> None:
        """Keep the time, now and then."""
        if time.monotonic() - self._written > self._every:
            with whole_file(self._file) as file:
                file.write(str(self.seconds))
            self._written = time.monotonic()
