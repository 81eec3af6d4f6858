"""Killed at any moment, a training goes on and ends with the same model."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from safetensors.torch import save_file

import toy
from commands import CommandLine, Outcome, Started, error_line
from zerotag.run import Run

DONE = 0
KILLED = -signal.SIGKILL
FILE_EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.listdir", "tempfile.mkdtemp")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy.write_tsv(tmp_path_factory.mktemp("corpus") / "train.tsv", toy.gold(40))


class Training:
    """The same `zerotag train`, any number of times."""

    def __init__(self, folder: Path, corpus: Path, encoder: Path, *more: str) -> None:
        self.out = folder / "model"
        self.unfinished = folder / "model.partial"
        self._log = folder.with_suffix(".log")
        self.arguments = ["train", corpus, "--out", self.out, "--model", encoder, "--depth", "1", *more]

    def start(self, prepare: Callable[[], None] | None = None) -> Started:
        return Started(self.arguments, prepare or checkpoint_often, self._log)

    def run(self, prepare: Callable[[], None] | None = None) -> Outcome:
        return self.start(prepare).outcome()

    @property
    def steps(self) -> int:
        """Steps of the newest checkpoint; an epoch has three."""
        found = [path.name.split("-") for path in self.unfinished.glob("step-*")]
        return max((3 * int(epoch) + int(step) for _, epoch, step in found), default=0)

    @property
    def complete(self) -> bool:
        return self.out.exists() and not self.unfinished.exists()

    def weights(self) -> bytes:
        assert sorted(path.name for path in self.out.parent.iterdir() if path.name[0] != ".") == ["model"]
        return (self.out / "model.safetensors").read_bytes()


def checkpoint_often() -> None:
    """After every step, however long it takes to write."""
    mock.patch("zerotag.run.CHECKPOINT_SECONDS", 0.0).start()
    mock.patch("zerotag.run.Run._saving_took", mock.PropertyMock(return_value=0.0), create=True).start()


def test_killed_at_random_moments(tmp_path: Path, corpus: Path, encoder: Path) -> None:
    settings = ("--epochs", "10", "--patience", "10")
    undisturbed = Training(tmp_path / "undisturbed", corpus, encoder, *settings)
    disturbed = Training(tmp_path / "disturbed", corpus, encoder, *settings)
    assert undisturbed.run().code == DONE

    kills = 0
    for _ in range(4):
        training = disturbed.start()
        begun = disturbed.steps
        further = random.randint(1, 3)
        while training.process.is_alive() and disturbed.steps < begun + further:
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.05))
        training.process.kill()
        outcome = training.outcome()
        assert outcome.code in (DONE, KILLED), outcome.err
        assert outcome.err.startswith("going on in epoch " if begun else "")
        kills += outcome.code == KILLED
    assert kills > 1
    if not disturbed.complete:
        assert disturbed.run().code == DONE
    assert disturbed.weights() == undisturbed.weights()


def keep_every_state(folder: Path, copies: Path) -> None:
    """Copy the folder before every operation on files in it, and with half the weights whenever weights are written."""
    checkpoint_often()
    busy = False

    def copy(half: Path | None = None) -> None:
        nonlocal busy
        busy = True
        new = copies / f"{len(list(copies.iterdir())):03d}"
        if folder.exists():
            shutil.copytree(folder, new)
        if half is not None:
            os.truncate(new / half.relative_to(folder), half.stat().st_size // 2)
        busy = False

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if not busy and event in FILE_EVENTS and str(folder) in str(arguments[0]):
            copy()

    def write_half(tensors: Any, path: Path, **options: Any) -> None:
        save_file(tensors, path, **options)
        copy(half=path)

    mock.patch("zerotag.checkpoint.save_file", write_half).start()
    mock.patch("zerotag.labeller.save_file", write_half).start()
    sys.addaudithook(watch)


def content(folder: Path) -> bytes:
    """A digest of the names and bytes of all files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(str(path.relative_to(folder)).encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.digest()


def test_goes_on_from_every_state_that_a_kill_can_leave(
    tmp_path: Path, corpus: Path, encoder: Path, zerotag: CommandLine
) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    settings = ("--epochs", "2", "--batch-size", "12")
    undisturbed = Training(tmp_path / "undisturbed", corpus, encoder, *settings)
    undisturbed.out.parent.mkdir()
    assert undisturbed.run(partial(keep_every_state, undisturbed.out.parent, copies)).code == DONE

    states = {content(folder): folder for folder in copies.iterdir()}.values()
    assert len(states) > 20
    for folder in states:
        killed = Training(folder, corpus, encoder, *settings)
        if not killed.complete:  # else it was only tidying up
            zerotag.succeeds(*killed.arguments)
        assert killed.weights() == undisturbed.weights(), folder


def test_interrupted_by_the_user(tmp_path: Path, corpus: Path, encoder: Path) -> None:
    training = Training(tmp_path / "training", corpus, encoder, "--epochs", "12", "--patience", "12")
    running = training.start()
    while not list(training.unfinished.glob("step-*")):
        time.sleep(0.01)
    assert running.process.pid is not None
    os.kill(running.process.pid, signal.SIGINT)
    outcome = running.outcome()
    *progress, last = outcome.err.splitlines()
    assert outcome.code == 130
    assert last == f"error: stopped; the same command goes on from {training.unfinished}"
    assert all(line.startswith("epoch ") for line in progress)
    again = training.run()
    assert again.code == DONE
    assert again.err.startswith("going on in epoch ")
    assert training.complete


def die_in_second_epoch() -> None:
    train_epoch = Run._epoch

    def epoch(run: Run) -> None:
        if run._position.epoch == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        train_epoch(run)

    mock.patch("zerotag.run.Run._epoch", epoch).start()


def test_other_settings_or_data_are_refused(tmp_path: Path, corpus: Path, encoder: Path) -> None:
    first = Training(tmp_path / "same", corpus, encoder, "--epochs", "2")
    assert first.run(die_in_second_epoch).code == KILLED
    before = {path: path.stat().st_mtime_ns for path in first.unfinished.rglob("*")}
    other_data = toy.write_tsv(tmp_path / "other.tsv", toy.gold(40, seed=9))
    for other in (
        Training(tmp_path / "same", corpus, encoder, "--epochs", "3"),
        Training(tmp_path / "same", corpus, encoder, "--epochs", "2", "--seed", "2"),
        Training(tmp_path / "same", other_data, encoder, "--epochs", "2"),
    ):
        line = error_line(other.run())
        assert line.startswith(f"{first.unfinished} holds an unfinished training with other settings or data")
    assert {path: path.stat().st_mtime_ns for path in first.unfinished.rglob("*")} == before
    again = first.run()
    assert again.code == DONE
    assert again.err.startswith("going on in epoch 2 of 2\n")


def test_a_damaged_checkpoint_is_named(tmp_path: Path, corpus: Path, encoder: Path) -> None:
    training = Training(tmp_path / "training", corpus, encoder, "--epochs", "2")
    assert training.run(die_in_second_epoch).code == KILLED
    (weights,) = training.unfinished.glob("step-*/network.safetensors")
    weights.write_bytes(weights.read_bytes()[:100])
    line = error_line(training.run())
    assert line.startswith(f"{training.unfinished}, an unfinished training, is damaged")
    assert line.endswith("delete it to start anew")
