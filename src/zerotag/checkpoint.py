"""Unfinished trainings on disk, so that a killed one goes on where it was. Safetensors and JSON, never a pickle.

A checkpoint is a folder that appears by a rename, whole or not at all; the newest one counts.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import Optimizer

from zerotag.errors import ZerotagError
from zerotag.model import Network


@dataclass(slots=True)
class EpochRecord:
    """What one epoch gave."""

    loss: float
    dev_f1: float
    dev_loss: float


@dataclass(slots=True)
class Position:
    """How far a training has come."""

    epoch: int = 0
    step: int = 0
    """Steps done within the epoch."""

    loss_sum: float = 0.0
    """Sum of the losses of the epoch's steps so far."""

    history: list[EpochRecord] = field(default_factory=list)
    best_epoch: int = -1
    finished: bool = False

    @property
    def best_f1(self) -> float:
        """Development F1 of the best epoch so far."""
        return self.history[self.best_epoch].dev_f1 if self.best_epoch >= 0 else -1.0


class Checkpoints:
    """The folder of one unfinished training, bound to its settings and data by a fingerprint."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._folder = folder
        self._fingerprint = fingerprint
        folder.mkdir(parents=True, exist_ok=True)
        self._check_fingerprint()

    def _check_fingerprint(self) -> None:
        file = self._folder / "fingerprint"
        if not file.exists():
            file.write_text(self._fingerprint)
        elif file.read_text() != self._fingerprint:
            raise ZerotagError(
                f"{self._folder} holds an unfinished training with other settings or data: "
                "repeat those to finish it, delete the folder to start anew, or choose another --out"
            )

    def save(self, network: Network, optimizer: Optimizer, position: Position) -> None:
        """Write a checkpoint and drop the ones before it."""
        before = self._all()
        new = self._folder / "new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        save_file(network.state_dict(), new / "network.safetensors")
        save_file(_moments(optimizer), new / "optimizer.safetensors")
        (new / "position.json").write_text(json.dumps(asdict(position)))
        name = f"step-{position.epoch:04d}-{position.step:08d}"
        if (self._folder / name).exists():
            return
        new.rename(self._folder / name)
        for old in before:
            shutil.rmtree(old)
        for best in self._folder.glob("best-*.safetensors"):
            if best != self._best_file(position.best_epoch):
                best.unlink()

    def resume(self, network: Network, optimizer: Optimizer) -> Position:
        """Go back to the newest checkpoint, if there is one; returns how far it had come."""
        found = self._all()
        if not found:
            return Position()
        values = json.loads((found[-1] / "position.json").read_text())
        values["history"] = [EpochRecord(**record) for record in values["history"]]
        network.load_state_dict(load_file(found[-1] / "network.safetensors"))
        _restore_moments(optimizer, load_file(found[-1] / "optimizer.safetensors"))
        return Position(**values)

    def save_best(self, network: Network, epoch: int) -> None:
        """Keep the weights of the best epoch so far."""
        new = self._folder / "best.new"
        save_file(network.state_dict(), new)
        new.rename(self._best_file(epoch))

    def load_best(self, network: Network, epoch: int) -> None:
        """Give the network the weights of the best epoch."""
        network.load_state_dict(load_file(self._best_file(epoch)))

    def delete(self) -> None:
        """The training is done and saved: nothing is left to go on with."""
        shutil.rmtree(self._folder)

    def _best_file(self, epoch: int) -> Path:
        return self._folder / f"best-{epoch:04d}.safetensors"

    def _all(self) -> list[Path]:
        return sorted(self._folder.glob("step-*"))


def _moments(optimizer: Optimizer) -> dict[str, Tensor]:
    """AdamW's state as named tensors: parameters are numbered in the order of the groups."""
    state = optimizer.state_dict()["state"]
    return {f"{number}.{name}": tensor for number, values in state.items() for name, tensor in values.items()}


def _restore_moments(optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    saved = optimizer.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = tensor
    saved["state"] = state
    optimizer.load_state_dict(saved)
