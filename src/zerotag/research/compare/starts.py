"""What the trainings of an experiment start from, encoders and word vectors, found before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from zerotag.config import PACKAGED_ENCODER, ModelConfig
from zerotag.errors import ZerotagError
from zerotag.modeling.encoders import found, registered
from zerotag.research.compare.experiment import Experiment, Run


def located_models(experiment: Experiment, runs: Iterable[Run]) -> dict[str, ModelConfig]:
    """The models that the runs' trainings make, by the training's name, with the places of what they start from."""
    names = dict.fromkeys(run.method.training for run in runs if run.method.training is not None)
    models = {name: experiment.trainings[name].model for name in names}
    encoders = {name: _encoder(experiment, name) for name in dict.fromkeys(model.encoder for model in models.values())}
    return {name: replace(model, encoder=encoders[model.encoder]) for name, model in models.items()}


def _encoder(experiment: Experiment, name: str) -> str:
    if registered(name) is not None:
        own_name, colon, vectors = name.partition(":")
        return f"{own_name}{colon}{_vectors(experiment, vectors)}" if vectors else name
    own = experiment.path.parent / name
    try:
        return found(str(own) if own.is_dir() and name != PACKAGED_ENCODER else name)
    except ZerotagError as error:
        raise ZerotagError(f"{experiment.path}: {error}") from error


def _vectors(experiment: Experiment, name: str) -> str:
    file = experiment.path.parent / name
    if not file.is_file():
        raise ZerotagError(f"{experiment.path}: vectors {name!r} are not a file; {file} was looked for")
    return str(file)
