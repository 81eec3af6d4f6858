"""`zerotag compare`: an experiment's runs, those finished left alone, and the summary and tables of all there are."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from zerotag.errors import ZerotagError
from zerotag.parallel.ray_pool import Cluster
from zerotag.research.compare.corpora import read_splits
from zerotag.research.compare.experiment import Experiment, Run
from zerotag.research.compare.experiment_file import read_experiment
from zerotag.research.compare.figures import write_figures
from zerotag.research.compare.messages import Failed, Finished, Said
from zerotag.research.compare.on_ray import on_ray
from zerotag.research.compare.results import finished_run, load_results
from zerotag.research.compare.schedule import groups_of, one_after_the_other, side_by_side
from zerotag.research.compare.starts import located_models
from zerotag.research.compare.summary import write_summary
from zerotag.research.compare.tables import write_tables
from zerotag.research.compare.workbench import Workbench
from zerotag.types import Corpus, Example

DATA_VARIABLE = "ZEROTAG_DATA"


@dataclass(frozen=True, slots=True)
class Status:
    """Something to show while a comparison goes on."""

    message: str
    done: int
    total: int
    seconds_left: float | None
    """By the pace so far; None until a run is finished."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of a comparison."""

    experiment: Experiment
    folder: Path
    done: tuple[Run, ...]
    failed: dict[Run, str]
    left: tuple[Run, ...]
    """Neither done nor failed: the time was up."""


def compare(
    toml: Path,
    *,
    data: Path | None = None,
    out: Path | None = None,
    jobs: int = 1,
    only: str = "*",
    limit_seconds: float | None = None,
    cluster: Cluster | None = None,
    on_status: Callable[[Status], None] = lambda _: None,
) -> Comparison:
    """Make the runs of an experiment that are not finished, then its summary and tables.

    `data` holds the paper's corpora (default: the environment's ZEROTAG_DATA); results go to `out` (default: beside the
    TOML). `jobs` worker processes share the device, or the workers of a `cluster` have one each. `only` picks runs by a
    pattern over their names, as `fce.*.1`. After `limit_seconds` everything is stopped where it is; what was begun goes
    on the next time.
    """
    start = time.monotonic()
    if jobs < 1:
        raise ZerotagError(f"jobs {jobs} is out of range; allowed: 1 or more")
    if jobs > 1 and cluster is not None:
        raise ZerotagError("--jobs are processes of this machine; with Ray there are --workers")
    deadline = None if limit_seconds is None else start + limit_seconds
    experiment = read_experiment(toml)
    folder = out or experiment.results
    wanted = [run for run in experiment.runs() if fnmatchcase(run.name, only)]
    if not wanted:
        raise ZerotagError(f"no run of {toml} matches {only!r}; their names are like {next(experiment.runs()).name}")
    missing = [run for run in wanted if finished_run(experiment, folder, run) is None]
    if data is None and DATA_VARIABLE in os.environ:
        data = Path(os.environ[DATA_VARIABLE])
    sizes = {  # read here to check the corpora, too: workers read what they need
        corpus: _words(read_splits(experiment, corpus, data).train)
        for corpus in dict.fromkeys(run.corpus for run in missing)
    }
    models = located_models(experiment, missing)

    listener = _Listener(len(wanted) - len(missing), len(wanted), on_status)
    bench = Workbench(experiment, data, models, folder, side_by_side=jobs)
    # What was begun comes first; then seed by seed, since part of the seeds makes a table; of a seed, large corpora, so
    # that no long training begins when all others are done.
    groups = sorted(groups_of(missing), key=lambda group: (not bench.begun(group), group.seed, -sizes[group.corpus]))
    if cluster is not None:
        on_ray(groups, bench, cluster, listener.hear, deadline)
    elif jobs == 1:
        one_after_the_other(groups, bench, listener.hear, deadline)
    else:
        side_by_side(groups, bench, min(jobs, len(groups)), listener.hear, deadline)

    for group in groups_of(list(experiment.runs())):
        bench.tidy(group)
    results = load_results(experiment, folder)
    if results.records:
        write_summary(results, folder)
        write_tables(results, folder)
        write_figures(results, folder)
    return Comparison(
        experiment,
        folder,
        done=tuple(run for run in wanted if run in results.records),
        failed={run: why for run, why in listener.failed.items() if run not in results.records},
        left=tuple(run for run in wanted if run not in results.records and run not in listener.failed),
    )


def _words(corpus: Corpus[Example]) -> int:
    return sum(len(example.sentence.words) for example in corpus.examples)


class _Listener:
    """Counts what is done and estimates what is left."""

    def __init__(self, done: int, total: int, on_status: Callable[[Status], None]) -> None:
        self._already = self._done = done
        self._total = total
        self._on_status = on_status
        self._start = time.monotonic()
        self.failed: dict[Run, str] = {}

    def hear(self, message: Said | Finished | Failed) -> None:
        """Turn what a worker tells into a status."""
        match message:
            case Said(text):
                self._show(text)
            case Finished(run, outcome):
                self._done += 1
                self._show(f"{run}: {outcome}")
            case Failed(run, reason):
                self.failed[run] = reason
                self._show(f"{run} FAILED: {reason}")

    def _show(self, text: str) -> None:
        made = self._done - self._already
        left = self._total - self._done - len(self.failed)
        seconds_left = (time.monotonic() - self._start) / made * left if made else None
        self._on_status(Status(text, self._done, self._total, seconds_left))
