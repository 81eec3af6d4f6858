"""The cells of the curves: each a model and what it scores, stored when it is done and never run again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.evaluation.report import evaluate
from zerotag.io.files import put
from zerotag.io.model_folder import NETWORK
from zerotag.labeller import WordLabeller
from zerotag.research.compare.corpora import Splits
from zerotag.research.few_words.plan import Plan, labelled
from zerotag.research.few_words.records import Record
from zerotag.training.checked_corpus import BOTH_NEEDED, check_corpus
from zerotag.training.exclusive import are_exclusive, exclusive_rules
from zerotag.training.few_labels import update
from zerotag.training.loop import Progress
from zerotag.training.recipe import train, train_towards
from zerotag.training.thresholds import calibration_from_sentence_labels, rule_from_sentence_labels
from zerotag.types import Corpus, Example, Rule, Scored

ZERO_SHOT = "zero-shot"
METHODS = ("tune", "refit", "joint", "both", "alone")
"""Thresholds alone; the last layer; the network with thresholds from sentence labels; with its own; nothing else."""

EPOCHS_ALONE = 12


class Cell(NamedTuple):
    """A method on a corpus, with a seed and so many labelled sentences."""

    corpus: str
    seed: int
    method: str
    sentences: int

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.corpus}-{self.seed}-{self.method}-{self.sentences}"


class OutOfTimeError(Exception):
    """The piece is over; what was begun goes on in the next."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where things are, and until when to work."""

    plan: Plan
    data: Path
    encoders: Path
    out: Path
    end: float

    def tell(self, _: Progress) -> None:
        """Stop a training between two steps when the time is over; it is resumed."""
        if time.monotonic() > self.end:
            raise OutOfTimeError


def cells(plan: Plan, corpus: str) -> Iterator[Cell]:
    """All cells of a corpus, those first on which others stand."""
    for seed in plan.seeds:
        yield Cell(corpus, seed, ZERO_SHOT, 0)
        yield from (Cell(corpus, seed, method, n) for n in plan.sentences for method in METHODS)


def run(place: Workplace, cell: Cell, splits: Splits) -> None:
    """Make the model of a cell, score the test set and store both scores and measures."""
    record = Record()
    labeller = _labeller(place, cell, splits)
    scored = list(labeller.score(one.sentence for one in splits.test.examples))
    _store_scores(place.out, cell, scored)
    report = evaluate(zip(splits.test.examples, scored, strict=True), labeller.label_names, labeller.rules)
    word_labels = sum(labeller.manifest.word_labels.values())
    record.write(place.out / f"{cell.name}.json", {**cell._asdict(), "word_labels": word_labels, **report.to_json()})


def _labeller(place: Workplace, cell: Cell, splits: Splits) -> WordLabeller:
    folder = place.out / "models" / f"{cell.corpus}-{cell.seed}"
    if cell.method == ZERO_SHOT:
        return _zero_shot(place, cell, splits, folder)
    labeller = WordLabeller.from_pretrained(folder)
    examples = labelled(splits.train_with_word_labels, cell.sentences, cell.seed)
    if cell.method == "tune":
        return labeller.tune(examples)
    if cell.method == "refit":
        return update(labeller, examples)
    if cell.method == "alone":
        return _alone(place, cell, splits, labeller)
    found = _updated(place, cell, splits, labeller)
    return found if cell.method == "both" else found.with_rules(_by_sentence_labels(found, splits.dev))


def _zero_shot(place: Workplace, cell: Cell, splits: Splits, folder: Path) -> WordLabeller:
    if folder.exists():
        return WordLabeller.from_pretrained(folder)
    labeller = train(
        splits.train,
        splits.dev,
        model=ModelConfig(encoder=encoder_of(place)),
        training=TrainConfig(seed=cell.seed, teachers=place.plan.teachers),
        checkpoints=folder.with_name(f"{folder.name}.partial"),
        on_progress=place.tell,
    )
    if are_exclusive(splits.train, "auto"):  # as `zerotag.train` has it
        labeller = labeller.with_rules(exclusive_rules(labeller.rules, splits.train))
    labeller.save_pretrained(folder)
    return labeller


def _updated(place: Workplace, cell: Cell, splits: Splits, labeller: WordLabeller) -> WordLabeller:
    """The network of joint training, which two methods share."""
    folder = place.out / "models" / f"{cell.corpus}-{cell.seed}-{cell.sentences}-words"
    if folder.exists():
        return WordLabeller.from_pretrained(folder)
    examples = labelled(splits.train_with_word_labels, cell.sentences, cell.seed)
    updated = update(labeller, examples, splits.train)
    updated.save_pretrained(folder)
    return updated


def _alone(place: Workplace, cell: Cell, splits: Splits, labeller: WordLabeller) -> WordLabeller:
    """The same network on the labelled sentences only."""
    examples = labelled(splits.train_with_word_labels, cell.sentences, cell.seed)
    few = Corpus(splits.train.label_names, tuple(Example(one.sentence, one.labels) for one in examples))
    epochs = EPOCHS_ALONE if len(few) < 1_000 else 3
    training = TrainConfig(seed=cell.seed, epochs=epochs, patience=epochs)
    try:
        check_corpus(few, splits.dev)
    except ZerotagError as error:
        raise ZerotagError(f"{cell.name}: {error}; {BOTH_NEEDED}") from None
    targets = [np.array(one.word_labels, np.float32) for one in examples]
    model = replace(labeller.manifest.model, encoder=encoder_of(place), depth=None)
    trained = train_towards(targets, few, splits.dev, model, training, None, None, lambda _: None)
    rules = [replace(rule, exclusive=its.exclusive) for rule, its in zip(trained.rules, labeller.rules, strict=True)]
    trained.manifest = replace(trained.manifest, rules=tuple(rules), word_labels={NETWORK: len(few)})
    return trained


def encoder_of(place: Workplace) -> str:
    """The folder or name of the encoder that all start from."""
    folder = place.encoders / place.plan.encoder
    return str(folder) if folder.is_dir() else place.plan.encoder


def _by_sentence_labels(labeller: WordLabeller, dev: Corpus[Example]) -> tuple[Rule, ...]:
    """The thresholds that are chosen without a word label."""
    scored = list(labeller.score(one.sentence for one in dev.examples))
    labels = np.array([one.labels for one in dev.examples], np.bool_)
    sentences = np.array([one.sentence_scores for one in scored], np.float32)
    calibration = (
        calibration_from_sentence_labels([one.word_scores[:, k] for one in scored], labels[:, k])
        for k in range(labels.shape[1])
    )
    return tuple(rule_from_sentence_labels(its, sentences[:, k], labels[:, k]) for k, its in enumerate(calibration))


def _store_scores(out: Path, cell: Cell, scored: list[Scored]) -> None:
    """All scores of the test set, without its words or labels."""
    new = out / f".{cell.name}.new.npz"
    np.savez_compressed(
        new,
        word_scores=np.concatenate([one.word_scores for one in scored]),
        words=np.array([len(one.word_scores) for one in scored]),
        sentence_scores=np.array([one.sentence_scores for one in scored], np.float32),
    )
    put(new, out / f"{cell.name}.npz")
