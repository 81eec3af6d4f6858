"""The cells of the curves: each a model and what it scores, stored when it is done and never run again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.evaluation.report import evaluate
from zerotag.io.files import put, whole_file
from zerotag.io.model_folder import NETWORK
from zerotag.labeller import WordLabeller
from zerotag.research.compare.corpora import Splits
from zerotag.research.few_words.plan import Plan, labelled, read_splits
from zerotag.training.checked_corpus import BOTH_NEEDED, check_corpus
from zerotag.training.few_labels import update
from zerotag.training.loop import Progress
from zerotag.training.recipe import train, train_towards
from zerotag.training.thresholds import rule_from_sentence_labels
from zerotag.types import Corpus, Example, GoldExample, Rule, Scored

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


def cells(plan: Plan) -> Iterator[Cell]:
    """All cells, those first on which others stand."""
    for seed in plan.seeds:
        for corpus in plan.corpora:
            yield Cell(corpus, seed, ZERO_SHOT, 0)
            yield from (Cell(corpus, seed, method, n) for n in plan.sentences for method in METHODS)


def is_done(place: Workplace, cell: Cell) -> bool:
    """Whether its results are stored."""
    return (place.out / f"{cell.name}.json").exists()


def run(place: Workplace, cell: Cell, splits: Splits) -> None:
    """Make the model of a cell, score the test set and store both scores and measures."""
    labeller = _labeller(place, cell, splits)
    scored = list(labeller.score(one.sentence for one in splits.test.examples))
    store(place.out, cell, labeller, splits.test, scored)


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
    labeller.save_pretrained(folder)
    return labeller


def _updated(place: Workplace, cell: Cell, splits: Splits, labeller: WordLabeller) -> WordLabeller:
    """The network of joint training, which two methods share."""
    folder = place.out / "models" / f"{cell.corpus}-{cell.seed}-{cell.sentences}-words"
    if folder.exists():
        return WordLabeller.from_pretrained(folder)
    examples = labelled(splits.train_with_word_labels, cell.sentences, cell.seed)
    updated = update(labeller, examples, splits.train, splits.dev)
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
    trained.manifest = replace(trained.manifest, word_labels={NETWORK: len(few)})
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
    return tuple(
        rule_from_sentence_labels([one.word_scores[:, k] for one in scored], sentences[:, k], labels[:, k])
        for k in range(labels.shape[1])
    )


def store(out: Path, cell: Cell, labeller: WordLabeller, test: Corpus[GoldExample], scored: list[Scored]) -> None:
    """All scores of the test set, without its words or labels, and then the measures."""
    new = out / f".{cell.name}.new.npz"
    np.savez_compressed(
        new,
        word_scores=np.concatenate([one.word_scores for one in scored]),
        words=np.array([len(one.word_scores) for one in scored]),
        sentence_scores=np.array([one.sentence_scores for one in scored], np.float32),
    )
    put(new, out / f"{cell.name}.npz")
    report = evaluate(zip(test.examples, scored, strict=True), labeller.label_names, labeller.rules)
    document = {**cell._asdict(), "supervision": labeller.manifest.supervision, **report.to_json()}
    with whole_file(out / f"{cell.name}.json") as file:
        file.write(json.dumps(document, indent=1) + "\n")


def run_all(place: Workplace, say: Callable[[str], None]) -> bool:
    """Run cells until the time is over; returns whether all are done."""
    splits: dict[str, Splits] = {}
    for cell in cells(place.plan):
        if is_done(place, cell):
            continue
        if time.monotonic() > place.end:
            return False
        if cell.corpus not in splits:
            splits = {cell.corpus: read_splits(place.plan, cell.corpus, place.data)}
        start = time.monotonic()
        try:
            run(place, cell, splits[cell.corpus])
        except OutOfTimeError:
            return False
        say(f"{cell.name}: {time.monotonic() - start:.0f} s")
    return True
