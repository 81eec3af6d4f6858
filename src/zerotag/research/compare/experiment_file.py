"""The TOML of an experiment, read and checked."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast, get_args

from zerotag.config import SEEDS, ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.explain import SCORERS, spec_of
from zerotag.presets import PRESETS
from zerotag.research.compare.experiment import (
    PARTS,
    SENTENCES_ONLY,
    ExampleSentence,
    Experiment,
    Method,
    Threshold,
    Training,
)
from zerotag.research.compare.published import PAPER_ROWS
from zerotag.research.compare.toml_table import TomlTable
from zerotag.research.corpora import KNOWN
from zerotag.saved_settings import from_dict


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
            name: None if name in KNOWN else _sha256(*(path.parent / name / part for part in PARTS)) for name in corpora
        },
        seeds=seeds,
        corpus_seeds=_corpus_seeds(table.table("corpus_seeds"), corpora),
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
    sentences, word_labels, split_dev = (
        table.whole_number("sentences"),
        table.flag("word_labels"),
        table.flag("split_dev"),
    )
    table.refuse_the_rest()
    if "seed" in training:
        raise ZerotagError(f"{table.where}: leave the seed out of the training; seeds = [...] gives them")
    if word_labels:
        training |= {"teacher_epochs": 0, "teachers": 1, "calibrated": False}  # there is nothing to guess about words
    try:
        configs = from_dict(ModelConfig, model), from_dict(TrainConfig, training)
        made = Training(name, *configs, sentences, word_labels, split_dev)
    except ZerotagError as error:
        raise ZerotagError(f"{table.where}: {error}") from None
    if word_labels and split_dev:
        raise ZerotagError(f"{table.where}: split_dev is for trainings on sentence labels; leave one of the two out")
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


def _seeds(table: TomlTable, default: tuple[int, ...] | None = None, key: str = "seeds") -> tuple[int, ...]:
    seeds = table.integers(key, default)
    if not all(seed in SEEDS for seed in seeds):
        raise table.error(key, list(seeds), f"whole numbers from 0 to {SEEDS[-1]}")
    return seeds


def _corpus_seeds(table: TomlTable, corpora: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    found = {corpus: _seeds(table, key=corpus) for corpus in corpora if corpus in table}
    table.refuse_the_rest()
    return found


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
