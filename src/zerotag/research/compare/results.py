"""The finished runs of an experiment, from the folder they were written to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.research.compare.experiment import Experiment, Run, complete_settings
from zerotag.research.compare.record import Record, read_record


@dataclass(frozen=True, slots=True)
class Results:
    """An experiment and those of its runs that are finished."""

    experiment: Experiment
    records: Mapping[Run, Record]

    def of(self, corpus: str, method: str) -> dict[int, Record]:
        """The records of a method on a corpus, by seed."""
        return {
            run.seed: record
            for run, record in self.records.items()
            if (run.corpus, run.method.name) == (corpus, method)
        }


def run_path(folder: Path, run: Run) -> Path:
    """The file of a run in a folder of results."""
    return folder / "runs" / f"{run.name}.json"


def load_results(experiment: Experiment, folder: Path) -> Results:
    """All finished runs of an experiment."""
    records = {run: finished_run(experiment, folder, run) for run in experiment.runs()}
    return Results(experiment, {run: record for run, record in records.items() if record is not None})


def finished_run(experiment: Experiment, folder: Path, run: Run) -> Record | None:
    """The record of a run, None if it is not finished; refused if it was made with other settings than are declared."""
    path = run_path(folder, run)
    if not path.exists():
        return None
    record = read_record(path)
    made, declared = complete_settings(record.settings), experiment.settings(run)
    for name in ("corpus_sha256", "vectors_sha256"):
        if declared[name] is None:  # there are none, or they are not here to compare with
            made[name] = None
    differing = list(_differing(made, declared))
    if differing:
        was, now = (", ".join(f"{name} {both[i]!r}" for name, *both in differing) for i in (0, 1))
        raise ZerotagError(
            f"{path} was made with {was}, but {experiment.path} has {now}: "
            "delete the file to repeat the run, or give the method another name"
        )
    return record


def _differing(
    made: Mapping[str, Any], declared: Mapping[str, Any], table: str = ""
) -> Iterator[tuple[str, object, object]]:
    """Settings that are not the same: their names, what they were and what they are."""
    for name, value in declared.items():
        was = made.get(name)
        if isinstance(value, dict) and isinstance(was, dict):
            yield from _differing(was, value, f"{name}.")
        elif was != value:
            yield table + name, was, value
