"""Every measure over seeds: `summary.json`, and the tests beside it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from zerotag.evaluation.significance import Summary, mean_and_deviation
from zerotag.io.model_folder import whole_file
from zerotag.research.compare.record import Record
from zerotag.research.compare.results import Results
from zerotag.research.compare.significance import SIGNIFICANCE, from_published, significance

SUMMARY = "summary.json"
SECONDS = ("training_seconds", "seconds_per_1000")

Summaries = dict[str, dict[str, dict[str, Summary]]]
"""Corpus → method → measure → mean, deviation and number of seeds."""


def summaries(results: Results) -> Summaries:
    """Every measure of every method and corpus over the seeds that are finished."""
    records: dict[str, dict[str, list[Record]]] = {}
    for run, record in results.records.items():
        records.setdefault(run.corpus, {}).setdefault(run.method.name, []).append(record)
    return {
        corpus: {method: _over_seeds(its) for method, its in by_method.items()} for corpus, by_method in records.items()
    }


def _over_seeds(records: Sequence[Record]) -> dict[str, Summary]:
    device = timed_on(records)
    values: dict[str, list[float]] = {}
    for record in records:
        for measure, value in record.measures().items():
            if measure not in SECONDS or record.made["device"] == device:
                values.setdefault(measure, []).append(value)
    return {measure: mean_and_deviation(several) for measure, several in values.items()}


def timed_on(records: Sequence[Record]) -> str:
    """Seconds of different machines have no mean: those of the commonest count, of equally common ones the first."""
    return str(Counter(record.made["device"] for record in records).most_common(1)[0][0])


def write_summary(results: Results, folder: Path) -> None:
    """Write `summary.json` and `significance.json`."""
    _write_json(folder / SUMMARY, summaries(results))
    tests = {
        "reference": results.experiment.reference,
        "p_values": significance(results),
        "from_published": from_published(results),
    }
    _write_json(folder / SIGNIFICANCE, tests)


def _write_json(path: Path, document: object) -> None:
    with whole_file(path) as file:
        file.write(json.dumps(document, indent=1, ensure_ascii=False, default=asdict) + "\n")
