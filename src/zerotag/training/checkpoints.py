"""Unfinished trainings on disk, so that a killed one goes on where it was. Safetensors and JSON, never a pickle.

A checkpoint is a folder that appears by a rename, whole or not at all; the newest one counts.
"""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import Optimizer

from zerotag.errors import ZerotagError
from zerotag.io.files import delete_our_folder, disk, explained, make_folders, whole_folder
from zerotag.modeling.network import Network


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


_TEACHER = "teacher-"
"""How folders with the checkpoints of teachers begin, within that of their training."""

_WORDS = "words-"
"""How those begin of the trainings by labelled words that follow; they are fingerprinted by themselves."""

_NESTED = (_TEACHER, _WORDS)
_OURS = ("step-", "best-", ".step-", ".best-", f".{_TEACHER}", *_NESTED)
"""How names in a folder of checkpoints begin."""

_NETWORK, _OPTIMIZER, _POSITION = "network.safetensors", "optimizer.safetensors", "position.json"


class Checkpoints:
    """The folder of one unfinished training, bound to its settings and data by a fingerprint.

    What is not that training's is refused at once, before hours of work end there.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._training = self._folder = folder
        self._fingerprint = fingerprint
        with explained(folder):
            if not all(file.name.startswith(_OURS) for file in folder.iterdir()):
                raise ZerotagError(f"{folder} is in the way: the unfinished training is kept there; move it elsewhere")
        for newest in filter(None, map(_newest, (folder, *folder.glob(f"{_TEACHER}*")))):
            with _undamaged(folder):
                its_fingerprint, _ = _read_position(newest)
            if its_fingerprint != fingerprint:
                raise ZerotagError(
                    f"{folder} holds an unfinished training with other settings or data, or of another zerotag: "
                    "repeat those to finish it, delete the folder to start anew, or choose another --out"
                )

    @property
    def folder(self) -> Path:
        """Where they are."""
        return self._folder

    def of_teacher(self, number: int) -> Checkpoints:
        """Those of one of the training's teachers, in a folder within."""
        checkpoints = copy.copy(self)
        checkpoints._folder = self._training / f"{_TEACHER}{number + 1}"
        return checkpoints

    @classmethod
    def by_words(cls, training: Path, name: str, fingerprint: str) -> Checkpoints:
        """Those of a training by labelled words, in a folder within that of the training it follows."""
        folder = training / f"{_WORDS}{name}"
        make_folders(folder)
        return cls(folder, fingerprint)

    def save(self, network: Network, optimizer: Optimizer, position: Position) -> None:
        """Write a checkpoint and drop the ones before it. At the end, the best weights are all that is needed."""
        newest = self._folder / f"step-{position.epoch:04d}-{position.step:08d}"
        with whole_folder(newest) as new:
            if not position.finished:
                save_file(network.state_dict(), new / _NETWORK)
                save_file(_moments(optimizer), new / _OPTIMIZER)
            document = {"fingerprint": self._fingerprint, **asdict(position)}
            (new / _POSITION).write_text(json.dumps(document))
        for old in self._folder.iterdir():
            if old not in (newest, self._best(position.best_epoch)) and not old.name.startswith(_NESTED):
                disk.remove(old)

    def resume(self, network: Network, optimizer: Optimizer) -> Position:
        """Go back to the newest checkpoint, if there is one; returns how far it had come."""
        newest = _newest(self._folder)
        if newest is None:
            return Position()
        with _undamaged(self._training):
            _, position = _read_position(newest)
            if not position.finished:
                network.load_state_dict(load_file(newest / _NETWORK))
                _restore_moments(optimizer, load_file(newest / _OPTIMIZER))
            return position

    def save_best(self, weights: dict[str, Tensor], epoch: int) -> None:
        """Keep the weights of the best epoch so far."""
        with whole_folder(self._best(epoch)) as new:
            save_file(weights, new / _NETWORK)

    def load_best(self, network: Network, epoch: int) -> None:
        """Give the network the weights of the best epoch."""
        with _undamaged(self._training):
            network.load_state_dict(load_file(self._best(epoch) / _NETWORK))

    def delete(self) -> None:
        """Nobody will go on with this training, which is locked while it runs."""
        delete_our_folder(self._training)

    def _best(self, epoch: int) -> Path:
        return self._folder / f"best-{epoch:04d}"


def position_in(folder: Path) -> Position:
    """How far the training whose checkpoints are in a folder has come; at its end, all that there is to say of it."""
    while (newest := _newest(folder)) is not None:
        with _undamaged(folder):
            try:
                return _read_position(newest)[1]
            except FileNotFoundError:
                if newest.exists():
                    raise
        # Else the training is going on in another process, and has come further.
    return Position()


def _newest(folder: Path) -> Path | None:
    return max(folder.glob("step-*"), default=None)


def _read_position(checkpoint: Path) -> tuple[str, Position]:
    """The fingerprint of a training, and its position."""
    values = json.loads((checkpoint / _POSITION).read_text())
    fingerprint = values.pop("fingerprint")
    values["history"] = [EpochRecord(**record) for record in values["history"]]
    return fingerprint, Position(**values)


@contextmanager
def _undamaged(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, LookupError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:100]
        raise ZerotagError(
            f"{folder}, an unfinished training, is damaged ({reason}): delete it to start anew"
        ) from error


def _moments(optimizer: Optimizer) -> dict[str, Tensor]:
    """AdamW's state as named tensors: parameters are numbered in the order of the groups."""
    state = optimizer.state_dict()["state"]
    return {f"{number}.{name}": tensor for number, values in state.items() for name, tensor in values.items()}


def _restore_moments(optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = defaultdict(dict)
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        state[int(number)][name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
