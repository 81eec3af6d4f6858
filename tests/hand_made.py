"""An experiment and run files made by hand, with numbers that can be followed on paper. No model, no torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zerotag.evaluation.cost import Cost
from zerotag.evaluation.report import Measures
from zerotag.research.compare.experiment import Experiment, Run
from zerotag.research.compare.experiment_file import read_experiment
from zerotag.research.compare.record import ExampleRecord, Record, SentenceRecord, TrainingRecord, write_record
from zerotag.research.compare.results import run_path

TOML = """
title = "Made by hand"
about = "Two corpora, two seeds."
corpora = ["fce", "own"]
seeds = [1, 2]
reference = "Soft attention"

[model]
encoder = "tiny"

[trainings.cls.model]
head = "cls"

[trainings.sa.model]
beta = 1

[trainings.w-sa.model]
beta = 2

[trainings.beta-4.model]
beta = 4

[[methods]]
name = "RoBERTa"
training = "cls"
scorer = "none"

[[methods]]
name = "LIME"
training = "cls"
scorer = "lime"
threshold = "dev-word-f1"
seeds = [1]
test_sentences = 2

[[methods]]
name = "Soft attention"
training = "sa"

[[methods]]
name = "Weighted soft attention"
training = "w-sa"

[[methods]]
name = "β = 4"
training = "beta-4"
sweep = true
"""


def experiment(folder: Path, text: str = TOML) -> Experiment:
    path = folder / "hand.toml"
    path.write_text(text, encoding="utf-8")
    return read_experiment(path)


def run_of(experiment: Experiment, corpus: str, method: str, seed: int) -> Run:
    return next(r for r in experiment.runs() if (r.corpus, r.method.name, r.seed) == (corpus, method, seed))


def record(
    experiment: Experiment,
    run: Run,
    *,
    sentence_f1: float | None = None,
    word_f1: float | None = None,
    average_precision: float | None = None,
    counts: tuple[list[int], list[int], list[int]] = ([1, 0, 1], [0, 1, 1], [1, 0, 0]),
    precisions: tuple[float, ...] = (0.5, 1.0),
    test_indices: list[int] | None = None,
    threshold: float = 0.5,
    examples: list[ExampleRecord] | None = None,
) -> Record:
    measures = dict.fromkeys(Measures.__dataclass_fields__) | {
        "sentence_f1": sentence_f1,
        "word_f1": word_f1,
        "map": average_precision,
    }
    settings = experiment.settings(run)
    rule = {"word_threshold": threshold, "sentence_threshold": 0.5, "origin": "fixed"}
    scores_words = word_f1 is not None
    return Record(
        corpus=run.corpus,
        method=run.method.name,
        seed=run.seed,
        uses_word_labels=run.method.uses_word_labels,
        settings=settings,
        made={
            "versions": {"zerotag": "0.1.0"},
            "device": "abacus",
            "side_by_side": 2,
            "date": f"2026-01-0{run.seed}T00:00:00+00:00",
            "commit": "abc",
        },
        training=_training(settings, dev_f1=0.8),
        scorer=run.method.scorer,
        test={"macro": measures, "labels": {"error": {"measures": measures, "counts": {}, "rule": rule}}},
        faithfulness={},
        dev=None,
        cost=Cost(seconds_per_1000=1.5, passes_per_1000=1000.0),
        test_indices=test_indices,
        sentences={"error": SentenceRecord(*counts, average_precisions=list(precisions))} if scores_words else {},
        examples=examples or [],
    )


def _training(settings: dict[str, Any], dev_f1: float) -> TrainingRecord:
    return TrainingRecord(
        model=settings["model"],
        training=settings["training"],
        parameters=10,
        history=[{"loss": 0.5, "dev_f1": 0.7, "dev_loss": 0.4}, {"loss": 0.4, "dev_f1": dev_f1, "dev_loss": 0.3}],
        best_epoch=2,
        dev={"sentence_precision": dev_f1, "sentence_recall": dev_f1, "sentence_f1": dev_f1},
        seconds=90.0,
    )


def write_all(experiment: Experiment, folder: Path) -> None:
    """FCE with all methods, the other corpus with one; seeds differ by 2 points."""
    for seed, more in ((1, 0.0), (2, 0.02)):
        made: list[tuple[str, str, dict[str, Any]]] = [
            ("fce", "RoBERTa", {"sentence_f1": 0.80 + more}),
            ("fce", "Soft attention", {"sentence_f1": 0.82, "word_f1": 0.30 + more, "average_precision": 0.40}),
            (
                "fce",
                "Weighted soft attention",
                {"sentence_f1": 0.82, "word_f1": 0.35 + 3 * more, "average_precision": 0.50 + more},
            ),
            ("fce", "β = 4", {"sentence_f1": 0.83, "word_f1": 0.36, "average_precision": 0.52}),
        ]
        if seed == 1:
            scores = {"sentence_f1": 0.9, "word_f1": 0.9, "average_precision": 0.9, "threshold": 0.0125}
            part = {"counts": ([1, 1], [0, 1], [1, 0]), "test_indices": [0, 2]}
            made.append(("fce", "LIME", scores | part))
            made.append(("own", "Soft attention", {"sentence_f1": 0.5, "word_f1": 0.25, "average_precision": 0.5}))
        for corpus, method, values in made:
            run = run_of(experiment, corpus, method, seed)
            write_record(run_path(folder, run), record(experiment, run, **values))
