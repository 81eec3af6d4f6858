"""Every measure over seeds: `summary.json`, and the tests beside it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from zerotag.compare.results import Results
from zerotag.compare.significance import SIGNIFICANCE, significance
from zerotag.metrics import Summary, mean_and_deviation
from zerotag.storage import whole_file

SUMMARY = "summary.json"

Summaries = dict[str, dict[str, dict[str, Summary]]]
"""Corpus → method → measure → mean, deviation and number of seeds."""


def summaries(results: Results) -> Summaries:
    """Every measure of every method and corpus over the seeds that are finished."""
    values: dict[str, dict[str, dict[str, list[float]]]] = {}
    for run, record in results.records.items():
        by_measure = values.setdefault(run.corpus, {}).setdefault(run.method.name, {})
        for measure, value in record.measures().items():
            by_measure.setdefault(measure, []).append(value)
    return {
        corpus: {
            method: {measure: mean_and_deviation(over_seeds) for measure, over_seeds in by_measure.items()}
            for method, by_measure in by_method.items()
        }
        for corpus, by_method in values.items()
    }


def write_summary(results: Results, folder: Path) -> None:
    """Write `summary.json` and `significance.json`."""
    _write_json(folder / SUMMARY, summaries(results))
    tests = {"reference": results.experiment.reference, "p_values": significance(results)}
    _write_json(folder / SIGNIFICANCE, tests)


def _write_json(path: Path, document: object) -> None:
    with whole_file(path) as file:
        file.write(json.dumps(document, indent=1, ensure_ascii=False, default=asdict) + "\n")
