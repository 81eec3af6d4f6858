"""An experiment: methods × corpora × seeds. No torch, so that tables are quick to draw."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from zerotag.config import ModelConfig, TrainConfig
from zerotag.saved_settings import from_dict

Threshold = Literal["fixed", "dev-word-f1"]
"""Where a method's word threshold comes from: 0.5, or the best word F1 on the development set's word labels."""

SENTENCES_ONLY = "none"
"""The scorer of a method that only classifies sentences."""

PARTS = ("train.tsv", "dev.tsv", "test.tsv")
"""The files of a corpus of one's own."""

CHOSEN_BY_WORD_LABELS = ("heads",)
"""Scorers which themselves are chosen by the development set's word labels."""


@dataclass(frozen=True, slots=True)
class Training:
    """A model that is trained once per corpus and seed, whatever number of methods reads it."""

    name: str
    model: ModelConfig
    training: TrainConfig
    sentences: int | None
    """How many training sentences are drawn for it; None for all."""

    word_labels: bool
    """Whether it learns from the training set's word labels: an upper line, and not zero-shot."""

    split_dev: bool = False
    """Whether its development sentences are split off those, as for somebody who has no others."""

    vectors_sha256: str | None = None
    """What is in the file of word vectors that it starts from; None where there is none."""


@dataclass(frozen=True, slots=True)
class Method:
    """A row of the tables: a trained model, what scores its words, and how scores become decisions."""

    name: str
    training: str | None
    scorer: str
    threshold: Threshold
    seeds: tuple[int, ...]
    dev_sentences: int | None
    """At most so many development sentences are scored to choose a threshold or head; None for all."""

    test_sentences: int | None
    """At most so many test sentences are scored; None for all."""

    published: str
    """The row of the paper's tables to show below it, if there is one."""

    sweep: bool
    """A point of the β sweep: left out of the other tables."""

    curve: str
    """The learning curve that it is a point of, if any."""

    learns_word_labels: bool
    """Whether its training has seen the training set's word labels."""

    @property
    def uses_word_labels(self) -> bool:
        """Whether word labels have any say: such a method is not zero-shot."""
        return self.learns_word_labels or self.decides_by_word_labels

    @property
    def decides_by_word_labels(self) -> bool:
        """Whether word labels of the development set have a say in its scorer or threshold."""
        return self.threshold == "dev-word-f1" or self.scorer in CHOSEN_BY_WORD_LABELS

    @property
    def scores_words(self) -> bool:
        """Whether it says something of words, not only of sentences."""
        return self.scorer != SENTENCES_ONLY

    @property
    def slug(self) -> str:
        """The name as it stands in file names."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


@dataclass(frozen=True, slots=True)
class Run:
    """One method on one corpus with one seed: what is done, or not, as a whole."""

    corpus: str
    method: Method
    seed: int

    @property
    def name(self) -> str:
        """The name of its file in the folder of runs, without the suffix."""
        return f"{self.corpus}.{self.method.slug}.{self.seed}"

    def __str__(self) -> str:
        return f"{self.corpus}, {self.method.name}, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class ExampleSentence:
    """A sentence of our own, for figures of how methods see it."""

    corpora: tuple[str, ...]
    """Those whose models are to score it."""

    words: tuple[str, ...]
    gold: tuple[bool, ...]
    """Which words are positive."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """All that an experiment's TOML says."""

    path: Path
    title: str
    about: str
    draft: bool
    """Left out of the results page."""

    corpora: tuple[str, ...]
    """Names of known corpora, or folders beside the TOML with train.tsv, dev.tsv and test.tsv."""

    corpus_sha256: Mapping[str, str | None]
    """What is in the files of each corpus of one's own; None for known ones, and where there are no files."""

    seeds: tuple[int, ...]
    corpus_seeds: Mapping[str, tuple[int, ...]]
    """Of corpora that not all seeds are run on, which are."""

    reference: str
    """The method that significance tests compare the others with."""

    dev_word_measures: bool
    """Record word measures on the development set too, once everything is decided, and keep its scores to study."""

    trainings: Mapping[str, Training]
    methods: tuple[Method, ...]
    examples: tuple[ExampleSentence, ...]

    @property
    def name(self) -> str:
        """The TOML's name, which is also that of the folder beside it with the results."""
        return self.path.stem

    @property
    def results(self) -> Path:
        """The folder of results beside the TOML."""
        return self.path.with_suffix("")

    def runs(self) -> Iterator[Run]:
        """Every run; all corpora and methods of a seed before the next seed, so that part of them makes a table."""
        for seed in sorted({seed for method in self.methods for seed in method.seeds}):
            for corpus in self.corpora:
                if seed in self.corpus_seeds.get(corpus, (seed,)):
                    yield from (Run(corpus, method, seed) for method in self.methods if seed in method.seeds)

    def settings(self, run: Run) -> dict[str, Any]:
        """What a run's result depends on, as it is written into its file."""
        method = run.method
        training = None if method.training is None else self.trainings[method.training]
        return {
            "model": None if training is None else asdict(training.model),
            "training": None if training is None else asdict(training.training) | {"seed": run.seed},
            "sentences": None if training is None else training.sentences,
            "word_labels": method.learns_word_labels,
            "split_dev": training is not None and training.split_dev,
            "scorer": method.scorer,
            "threshold": method.threshold,
            "dev_sentences": method.dev_sentences,
            "test_sentences": method.test_sentences,
            "corpus_sha256": self.corpus_sha256[run.corpus],
            "vectors_sha256": None if training is None else training.vectors_sha256,
        }


def complete_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in a run's file, with those that did not exist yet when it was made: they had their defaults."""
    model, training = settings["model"], settings["training"]
    return {
        "sentences": None,
        "word_labels": False,
        "split_dev": False,
        "corpus_sha256": None,
        "vectors_sha256": None,
        **settings,
        "model": None if model is None else asdict(from_dict(ModelConfig, model)),
        "training": None if training is None else asdict(from_dict(TrainConfig, training)),
    }
