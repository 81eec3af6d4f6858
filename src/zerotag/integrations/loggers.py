"""Trainings in TensorBoard, MLflow and Weights & Biases: extras `tensorboard`, `mlflow` and `wandb`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zerotag.extras import needed


class TensorBoard:
    """Writes event files, into `runs` or the folder that is named: `tensorboard --logdir runs` shows them."""

    def __init__(self, folder: str | None = None) -> None:
        self._writer = needed("this logger", "tensorboard", "torch.utils.tensorboard").SummaryWriter(folder)

    def start(self, settings: Mapping[str, Any]) -> None:
        """Keep the settings as a text."""
        rows = "\n".join(f"| {name} | {value} |" for name, value in settings.items())
        self._writer.add_text("settings", f"| setting | value |\n|---|---|\n{rows}")

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Add a point to each curve, on disk at once."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        """End the file."""
        self._writer.close()


class MLflow:
    """A run of MLflow, in the experiment that is named, wherever MLFLOW_TRACKING_URI says."""

    def __init__(self, experiment: str | None = None) -> None:
        self._mlflow = needed("this logger", "mlflow", "mlflow")
        if experiment:
            self._mlflow.set_experiment(experiment)
        self._mlflow.start_run()

    def start(self, settings: Mapping[str, Any]) -> None:
        """Keep the settings as parameters."""
        self._mlflow.log_params(dict(settings))

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Add a point to each curve."""
        self._mlflow.log_metrics(dict(values), step=step)

    def close(self) -> None:
        """End the run."""
        self._mlflow.end_run()


class WeightsAndBiases:
    """A run of Weights & Biases, in the project that is named, else in `zerotag`."""

    def __init__(self, project: str | None = None) -> None:
        self._run = needed("this logger", "wandb", "wandb").init(project=project or "zerotag")

    def start(self, settings: Mapping[str, Any]) -> None:
        """Keep the settings."""
        self._run.config.update(dict(settings))

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Add a point to each curve."""
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        """End the run."""
        self._run.finish()
