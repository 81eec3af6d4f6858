"""Where runs are made: one process, which reads each corpus once and goes through groups of runs."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import torch

from zerotag.config import ModelConfig
from zerotag.errors import ZerotagError
from zerotag.io.files import delete_folder, whole_file
from zerotag.research.compare.corpora import Splits, read_splits
from zerotag.research.compare.experiment import Experiment, Run
from zerotag.research.compare.messages import Failed, Finished, Group, Heartbeat, Tell
from zerotag.research.compare.record import write_record
from zerotag.research.compare.results import run_path
from zerotag.research.compare.runs import carry_out
from zerotag.research.compare.trainings import Trained, obtain, training_folder
from zerotag.training.recipe import Progress


class Workbench:
    """Makes runs and writes their files; `models`, by their trainings' names, say where what they start from is."""

    def __init__(
        self,
        experiment: Experiment,
        data: Path | None,
        models: Mapping[str, ModelConfig],
        results: Path,
        side_by_side: int,
    ) -> None:
        self._experiment = experiment
        self._data = data
        self._models = models
        self._results = results
        self._side_by_side = side_by_side
        self._corpora: dict[str, Splits] = {}

    def prepare(self) -> None:
        """Share the cores with the other processes, unless the user has decided.

        The GPU shares itself. `CUDA_MPS_ACTIVE_THREAD_PERCENTAGE`, by which MPS gives each process a part of it, made
        trainings a third faster and their losses no numbers.
        """
        if "OMP_NUM_THREADS" not in os.environ:
            torch.set_num_threads(max(1, (os.cpu_count() or 1) // self._side_by_side))

    def begun(self, group: Group) -> bool:
        """Whether there is something of its training to go on from."""
        return group.training is not None and self._folder(group).exists()

    def carry_out(self, group: Group, heartbeat: Heartbeat, tell: Tell) -> None:
        """Train, unless that is done, then make the runs; one that fails is told of and does not stop the others."""
        try:
            splits = self._splits(group.corpus)
            trained = self._trained(group, splits, heartbeat)
        except Exception as error:
            for run in group.runs:
                tell(self._failed(run, error))
            return
        for run in group.runs:
            tell(self._attempt(run, splits, trained, heartbeat))
        self.tidy(group)

    def _splits(self, corpus: str) -> Splits:
        if corpus not in self._corpora:
            self._corpora[corpus] = read_splits(self._experiment, corpus, self._data)
        return self._corpora[corpus]

    def _trained(self, group: Group, splits: Splits, heartbeat: Heartbeat) -> Trained | None:
        if group.training is None:
            return None

        def on_progress(progress: Progress) -> None:
            best = "" if progress.best_f1 is None else f", dev F1 {100 * progress.best_f1:.1f}"
            heartbeat(f"{what}: epoch {progress.epoch} of {progress.epochs}, loss {progress.loss:.3f}{best}")

        what = f"{group.corpus}, training {group.training}, seed {group.seed}"
        training = self._experiment.trainings[group.training]
        located = self._models[group.training]
        return obtain(training, splits, group.seed, self._folder(group), on_progress, located)

    def _attempt(self, run: Run, splits: Splits, trained: Trained | None, heartbeat: Heartbeat) -> Finished | Failed:
        try:
            work = self._results / "work"
            record = carry_out(run, self._experiment, splits, trained, self._side_by_side, work, heartbeat)
            write_record(run_path(self._results, run), record)
            self._story(run).unlink(missing_ok=True)  # of an earlier failure
        except Exception as error:
            return self._failed(run, error)
        measures = record.measures()
        shown = {"sentence F1": "sentence_f1", "word F1": "word_f1", "MAP": "map"}
        parts = [f"{name} {100 * measures[key]:.2f}" for name, key in shown.items() if key in measures]
        return Finished(run, ", ".join(parts))

    def _failed(self, run: Run, error: Exception) -> Failed:
        """The reason in one line; the whole story of an unexpected one goes to a file."""
        if isinstance(error, ZerotagError):
            return Failed(run, str(error))
        with whole_file(self._story(run)) as file:
            file.write("".join(traceback.format_exception(error)))
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]} (see {self._story(run)})"
        return Failed(run, reason, unexpected=True)

    def _story(self, run: Run) -> Path:
        return self._results / "work" / f"{run.name}.failure.txt"

    def _folder(self, group: Group) -> Path:
        assert group.training is not None
        training = self._experiment.trainings[group.training]
        sha256 = self._experiment.corpus_sha256[group.corpus]
        return training_folder(self._results / "work", group.corpus, sha256, training, group.seed)

    def tidy(self, group: Group) -> None:
        """Delete the trained model once no run is left that needs it; a kill may have come before."""
        if group.training is None:
            return
        dependent = (
            run
            for run in self._experiment.runs()
            if (run.corpus, run.method.training, run.seed) == (group.corpus, group.training, group.seed)
        )
        folder = self._folder(group)
        if folder.parent.exists() and all(run_path(self._results, run).exists() for run in dependent):
            with suppress(OSError, ZerotagError):  # what is left over harms nobody
                delete_folder(folder)
