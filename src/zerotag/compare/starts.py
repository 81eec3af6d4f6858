"""The encoders of an experiment, found before anything runs."""

from __future__ import annotations

from collections.abc import Iterable

from zerotag.compare.experiment import Experiment, Run
from zerotag.config import BILSTM, PACKAGED_ENCODER
from zerotag.encoders import found
from zerotag.errors import ZerotagError


def locate_encoders(experiment: Experiment, runs: Iterable[Run]) -> dict[str, str]:
    """What to load every encoder by that the runs start from, by its name in the TOML; refused if there is none."""
    trainings = [experiment.trainings[run.method.training] for run in runs if run.method.training is not None]
    names = dict.fromkeys(training.model.encoder for training in trainings)
    return {name: _locate(experiment, name) for name in names if name != BILSTM}


def _locate(experiment: Experiment, name: str) -> str:
    own = experiment.path.parent / name
    try:
        return found(str(own) if own.is_dir() and name != PACKAGED_ENCODER else name)
    except ZerotagError as error:
        raise ZerotagError(f"{experiment.path}: {error}") from error
