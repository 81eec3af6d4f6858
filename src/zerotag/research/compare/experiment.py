"""An experiment as its TOML declares it: methods × corpora × seeds. No torch, so that tables are quick to draw."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from zerotag.config import PRESETS, SEEDS, ModelConfig, TrainConfig, from_dict
from zerotag.errors import ZerotagError
from zerotag.explain import SCORERS, spec_of
from zerotag.research.compare.published import PAPER_ROWS
from zerotag.research.compare.toml_table import TomlTable
from zerotag.research.corpora import CORPORA

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
    """Names of the paper's corpora, or folders beside the TOML with train.tsv, dev.tsv and test.tsv."""

    corpus_sha256: Mapping[str, str | None]
    """What is in the files of each corpus of one's own; None for the paper's, and where there are no files."""

    seeds: tuple[int, ...]
    reference: str
    """The method that significance tests compare the others with."""

    dev_word_measures: bool
    """Record word measures on the development set too, once everything is decided."""

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
        "corpus_sha256": None,
        "vectors_sha256": None,
        **settings,
        "model": None if model is None else asdict(from_dict(ModelConfig, model)),
        "training": None if training is None else asdict(from_dict(TrainConfig, training)),
    }


def comparisons(folder: Path) -> list[Path]:
    """The TOMLs in a folder that compare methods: others are plans of other programs (`research.few_words`)."""
    return sorted(file for file in folder.glob("*.toml") if "[[methods]]" in file.read_text(encoding="utf-8"))


def read_experiment(path: Path) -> Experiment:
    """Read and check a TOML; whatever is unknown in it is refused."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ZerotagError(f"{path}: no such file; give the TOML of an experiment") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ZerotagError(f"{path}: not a TOML file that can be read ({error})") from None
    table = TomlTable(str(path), document)
    seeds = _seeds(table)
    base_model, base_training = table.table("model").rest(), table.table("training").rest()
    trainings = {
        name: _training(name, its, base_model, base_training, path.parent) for name, its in table.tables("trainings")
    }
    methods = tuple(_method(its, seeds, trainings) for its in table.list_of_tables("methods"))
    corpora = table.texts("corpora")
    experiment = Experiment(
        path=path,
        title=table.text("title"),
        about=table.text("about", "").strip(),
        draft=table.flag("draft"),
        corpora=corpora,
        corpus_sha256={
            name: None if name in CORPORA else _sha256(*(path.parent / name / part for part in PARTS))
            for name in corpora
        },
        seeds=seeds,
        reference=table.text("reference"),
        dev_word_measures=table.flag("dev_word_measures"),
        trainings=trainings,
        methods=methods,
        examples=tuple(map(_example, table.list_of_tables("examples", optional=True))),
    )
    table.refuse_the_rest()
    _check(experiment)
    return experiment


def _sha256(*paths: Path) -> str | None:
    digest = hashlib.sha256()
    try:
        for path in paths:
            with path.open("rb") as file:  # file by file: where one ends and the next begins matters
                digest.update(hashlib.file_digest(file, "sha256").digest())
    except OSError:  # if runs need it, they complain
        return None
    return digest.hexdigest()


def _training(
    name: str, table: TomlTable, base_model: dict[str, Any], base_training: dict[str, Any], folder: Path
) -> Training:
    preset = table.text("preset", "")
    if preset:
        if preset not in PRESETS:
            raise table.error("preset", preset, ", ".join(PRESETS))
        base_model, base_training = asdict(PRESETS[preset][0]), asdict(PRESETS[preset][1])
        del base_training["seed"]
    model = base_model | table.table("model").rest()
    training = base_training | table.table("training").rest()
    sentences, word_labels = table.whole_number("sentences"), table.flag("word_labels")
    table.refuse_the_rest()
    if "seed" in training:
        raise ZerotagError(f"{table.where}: leave the seed out of the training; seeds = [...] gives them")
    if word_labels:
        training |= {"teacher_epochs": 0, "teachers": 1, "calibrated": False}  # there is nothing to guess about words
    try:
        made = Training(name, from_dict(ModelConfig, model), from_dict(TrainConfig, training), sentences, word_labels)
    except ZerotagError as error:
        raise ZerotagError(f"{table.where}: {error}") from None
    if word_labels and not made.model.scores_words:
        raise ZerotagError(f"{table.where}: head 'cls' cannot learn word labels; allowed: soft-attention")
    name, _, vectors = made.model.encoder.partition(":")
    return replace(made, vectors_sha256=_sha256(folder / vectors)) if name == "bilstm" and vectors else made


def _is_scorer(scorer: str) -> bool:
    name, colon, argument = scorer.partition(":")
    if not colon:
        return scorer == SENTENCES_ONLY or scorer in SCORERS
    return name in SCORERS and spec_of(name).takes(argument)


def _method(table: TomlTable, seeds: tuple[int, ...], trainings: Mapping[str, Training]) -> Method:
    name = table.text("name")
    training = table.text("training", "") or None
    if training is not None and training not in trainings:
        raise table.error("training", training, ", ".join(trainings))
    scorer = table.text("scorer", "native")
    if not _is_scorer(scorer):
        raise table.error("scorer", scorer, ", ".join((SENTENCES_ONLY, *SCORERS.names(), "heads:LAYER.HEAD")))
    if (training is None) != (scorer == "random"):
        needs = "needs a model; name its training" if training is None else "needs no model; remove the training"
        raise ZerotagError(f"{table.where}: scorer {scorer!r} {needs}")
    threshold = table.text("threshold", "fixed")
    if threshold not in get_args(Threshold):
        raise table.error("threshold", threshold, ", ".join(get_args(Threshold)))
    published = table.text("published", "")
    if published and published not in PAPER_ROWS:
        raise table.error("published", published, ", ".join(PAPER_ROWS))
    method = Method(
        name=name,
        training=training,
        scorer=scorer,
        threshold=cast(Threshold, threshold),
        seeds=_seeds(table, seeds),
        dev_sentences=table.whole_number("dev_sentences"),
        test_sentences=table.whole_number("test_sentences"),
        published=published or name,
        sweep=table.flag("sweep"),
        curve=table.text("curve", ""),
        learns_word_labels=training is not None and trainings[training].word_labels,
    )
    table.refuse_the_rest()
    return method


def _seeds(table: TomlTable, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
    seeds = table.integers("seeds", default)
    if not all(seed in SEEDS for seed in seeds):
        raise table.error("seeds", list(seeds), f"whole numbers from 0 to {SEEDS[-1]}")
    return seeds


def _example(table: TomlTable) -> ExampleSentence:
    """Words between spaces; those between asterisks are positive."""
    corpora, words = table.texts("corpora"), table.text("words").split()
    if not words:
        raise table.error("words", "", "words with spaces between them, positive ones as in *may*")
    table.refuse_the_rest()
    gold = tuple(len(word) > 2 and word[0] == word[-1] == "*" for word in words)
    return ExampleSentence(
        corpora, tuple(word[1:-1] if one else word for word, one in zip(words, gold, strict=True)), gold
    )


def _check(experiment: Experiment) -> None:
    for corpus in {corpus for example in experiment.examples for corpus in example.corpora}:
        if corpus not in experiment.corpora:
            raise ZerotagError(
                f"{experiment.path}, examples: corpus {corpus[:40]!r} is not in the experiment; "
                f"there are: {', '.join(experiment.corpora)}"
            )
    for corpus in experiment.corpora:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", corpus):
            raise ZerotagError(f"{experiment.path}: corpus {corpus[:40]!r} is not a name of letters, digits, - and _")
    slugs = [method.slug for method in experiment.methods]
    for method in experiment.methods:
        if not method.slug or slugs.count(method.slug) > 1:
            raise ZerotagError(
                f"{experiment.path}: two methods would share the file name of {method.name!r}; rename one"
            )
    names = [method.name for method in experiment.methods]
    if experiment.reference not in names:
        raise ZerotagError(
            f"{experiment.path}: reference {experiment.reference!r} is not a method; there are: {', '.join(names)}"
        )
