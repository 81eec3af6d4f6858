"""Killed at any moment, a training goes on and ends with the same model."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from safetensors.torch import save_file

import toy
from commands import CommandLine, Outcome, Started, error_line
from moments import after_calls, die, die_after, interrupt
from zerotag.presets import PRESETS
from zerotag.render.progress import TrainingProgress
from zerotag.training.loop import Progress
from zerotag.training.steps import Steps

DONE = 0
KILLED = -signal.SIGKILL
SETTINGS = ("--epochs", "4", "--patience", "4")
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
        self.arguments = ["train", corpus, "--out", self.out, "--encoder", encoder, "--depth", "1", *more]

    def start(self, prepare: Callable[[], None] | None = None) -> Started:
        return Started(self.arguments, prepare or checkpoint_often, self._log)

    def run(self, prepare: Callable[[], None] | None = None) -> Outcome:
        return self.start(prepare).outcome()

    @property
    def steps(self) -> int:
        """Steps of the newest checkpoints, the teacher's included; an epoch has three."""
        return sum(
            max((3 * int(epoch) + int(step) for _, epoch, step in found), default=0)
            for folder in (self.unfinished, self.unfinished / "teacher-1")
            for found in ([name.split("-") for name in names_in(folder) if name.startswith("step-")],)
        )

    @property
    def complete(self) -> bool:
        return self.out.exists() and not self.unfinished.exists()

    def model(self) -> tuple[bytes, list[object]]:
        """Its weights and its rules."""
        assert sorted(path.name for path in self.out.parent.iterdir() if path.name[0] != ".") == ["model"]
        weights = (self.out / "model.safetensors").read_bytes()
        return weights, json.loads((self.out / "zerotag.json").read_text())["rules"]


def names_in(folder: Path) -> list[str]:
    """What is in a folder, which a training may be about to make or to delete."""
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []


def with_a_short_teacher() -> None:
    model, training = PRESETS["default"]
    PRESETS["default"] = model, replace(training, teacher_epochs=2)


def checkpoint_often() -> None:
    """After every step, however long it takes to write."""
    with_a_short_teacher()
    mock.patch("zerotag.training.loop.CHECKPOINT_SECONDS", 0.0).start()
    mock.patch("zerotag.training.loop.SAVINGS_APART", 0).start()


@pytest.fixture
def _short_teacher(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, too."""
    monkeypatch.setitem(PRESETS, "default", PRESETS["default"])
    with_a_short_teacher()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, corpus: Path, encoder: Path) -> tuple[bytes, list[object]]:
    training = Training(tmp_path_factory.mktemp("undisturbed") / "training", corpus, encoder, *SETTINGS)
    assert training.run().code == DONE
    return training.model()


def die_early() -> None:
    checkpoint_often()
    after_calls(Steps, "take", 2, die)


def die_at_random() -> None:
    checkpoint_often()
    after_calls(Steps, "take", random.randint(1, 5), partial(die_after, random.uniform(0, 0.05)))


def test_killed_at_random_moments(
    tmp_path: Path, corpus: Path, encoder: Path, undisturbed: tuple[bytes, list[object]]
) -> None:
    disturbed = Training(tmp_path / "disturbed", corpus, encoder, *SETTINGS)
    assert disturbed.run(die_early).code == KILLED
    while not disturbed.complete:
        begun = disturbed.steps
        outcome = disturbed.run(die_at_random)
        assert outcome.code in (DONE, KILLED), outcome.err
        progress = [line for line in outcome.err.splitlines() if line.startswith(("going on in epoch ", "epoch "))]
        assert outcome.err.startswith("going on in epoch ") == (begun > 0 and progress != [])
    assert disturbed.model() == undisturbed


def die_at(function: str) -> None:
    """When a training calls some function."""
    checkpoint_often()
    mock.patch(f"zerotag.training.recipe.{function}", die).start()


def die_in_epoch(number: int) -> None:
    """After its first step."""
    checkpoint_often()
    mock.patch("zerotag.training.loop.REPORT_SECONDS", 0.0).start()
    show = TrainingProgress.show

    def watch(bar: TrainingProgress, progress: Progress) -> None:
        if progress.epoch == number:
            die()
        show(bar, progress)

    mock.patch.object(TrainingProgress, "show", watch).start()


@pytest.mark.parametrize(
    ("last_words", "goes_on_in"),
    [
        (partial(die_in_epoch, 2), 2),
        (partial(die_at, "token_targets"), 3),
        (partial(die_in_epoch, 4), 4),
        (partial(die_at, "rule_from_sentence_labels"), None),
    ],
    ids=["in the teacher", "after the teacher", "in the network", "after the network"],
)
def test_killed_in_every_part_of_a_training(
    tmp_path: Path,
    corpus: Path,
    encoder: Path,
    undisturbed: tuple[bytes, list[object]],
    last_words: Callable[[], None],
    goes_on_in: int | None,
) -> None:
    training = Training(tmp_path / "training", corpus, encoder, *SETTINGS)
    assert training.run(last_words).code == KILLED
    again = training.run()
    assert again.code == DONE
    assert again.err.startswith(f"going on in epoch {goes_on_in} of 6\n" if goes_on_in else "")
    assert ("going on" in again.err) == (goes_on_in is not None)
    assert training.model() == undisturbed


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

    mock.patch("zerotag.training.checkpoints.save_file", write_half).start()
    mock.patch("safetensors.torch.save_file", write_half).start()
    sys.addaudithook(watch)


def content(folder: Path) -> bytes:
    """A digest of the names and bytes of all files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(str(path.relative_to(folder)).encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.digest()


@pytest.mark.usefixtures("_short_teacher")
def test_goes_on_from_every_state_that_a_kill_can_leave(
    tmp_path: Path, corpus: Path, encoder: Path, zerotag: CommandLine
) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    settings = ("--epochs", "1", "--batch-size", "18")
    undisturbed = Training(tmp_path / "undisturbed", corpus, encoder, *settings)
    undisturbed.out.parent.mkdir()
    assert undisturbed.run(partial(keep_every_state, undisturbed.out.parent, copies)).code == DONE

    states = {content(folder): folder for folder in copies.iterdir()}.values()
    assert len(states) > 20
    for folder in states:
        killed = Training(folder, corpus, encoder, *settings)
        if not killed.complete:  # else it was only tidying up
            zerotag.succeeds(*killed.arguments)
        assert killed.model() == undisturbed.model(), folder


def interrupt_in_second_epoch() -> None:
    """Too early for a checkpoint of its own."""
    with_a_short_teacher()
    after_calls(Steps, "take", 4, interrupt)


def test_interrupted_by_the_user(tmp_path: Path, corpus: Path, encoder: Path) -> None:
    training = Training(tmp_path / "training", corpus, encoder, "--epochs", "12")
    outcome = training.run(interrupt_in_second_epoch)
    assert outcome.code == 130, outcome.err
    few, progress, stopping, stopped = outcome.err.splitlines()
    assert few.startswith("40 sentences are few")
    assert progress.startswith("epoch 1/14 · ")
    assert stopping == "stopping after this step; Ctrl-C again stops at once"
    assert stopped == f"error: stopped; the same command goes on from {training.unfinished}"
    again = training.run()
    assert again.code == DONE
    assert again.err.startswith("going on in epoch ")
    assert training.complete


def interrupt_while_it_learns_words() -> None:
    """Three steps after the last of both teacher and student."""
    with_a_short_teacher()
    mock.patch("zerotag.training.loop.REPORT_SECONDS", 0.0).start()  # each step hears it
    after_calls(Steps, "take", 3 * (2 + 1) + 3, interrupt)


def test_interrupted_while_it_learns_words(tmp_path: Path, corpus: Path, encoder: Path) -> None:
    """What sentence labels have taught is kept, and so are the steps by labelled words."""
    few = toy.write_tsv(tmp_path / "few.tsv", toy.gold(16, seed=3))
    training = Training(tmp_path / "training", corpus, encoder, "--epochs", "1", "--words", str(few))
    outcome = training.run(interrupt_while_it_learns_words)
    assert outcome.code == 130, outcome.err
    assert outcome.err.splitlines()[-1] == f"error: stopped; the same command goes on from {training.unfinished}"
    assert names_in(training.unfinished / "words-fold-1") == ["step-0000-00000003"]
    again = training.run()
    assert again.code == DONE, again.err
    assert "going on in epoch 1 of 4" in again.err
    assert training.complete


@pytest.mark.parametrize("of_teacher", [True, False])
def test_other_settings_or_data_are_refused(tmp_path: Path, corpus: Path, encoder: Path, of_teacher: bool) -> None:
    """At once, and nothing is trained or written first."""
    first = Training(tmp_path / "same", corpus, encoder, "--epochs", "2")
    assert first.run(partial(die_in_epoch, 2 if of_teacher else 4)).code == KILLED
    before = {path: path.stat().st_mtime_ns for path in first.unfinished.rglob("*")}
    other_data = toy.write_tsv(tmp_path / "other.tsv", toy.gold(40, seed=9))
    for other in (
        Training(tmp_path / "same", corpus, encoder, "--epochs", "3"),
        Training(tmp_path / "same", corpus, encoder, "--epochs", "2", "--seed", "2"),
        Training(tmp_path / "same", corpus, encoder, "--epochs", "2", "--preset", "paper"),  # no teacher
        Training(tmp_path / "same", other_data, encoder, "--epochs", "2"),
    ):
        line = error_line(other.run())
        assert line.startswith(f"{first.unfinished} holds an unfinished training with other settings or data")
    assert {path: path.stat().st_mtime_ns for path in first.unfinished.rglob("*")} == before
    again = first.run()
    assert again.code == DONE
    assert again.err.startswith(f"going on in epoch {2 if of_teacher else 4} of 4\n")


@pytest.mark.parametrize("of_teacher", [True, False])
def test_a_damaged_checkpoint_is_named(tmp_path: Path, corpus: Path, encoder: Path, of_teacher: bool) -> None:
    training = Training(tmp_path / "training", corpus, encoder, "--epochs", "2")
    assert training.run(partial(die_in_epoch, 2 if of_teacher else 4)).code == KILLED
    folder = training.unfinished / "teacher-1" if of_teacher else training.unfinished
    (weights,) = folder.glob("step-*/network.safetensors")
    weights.write_bytes(weights.read_bytes()[:100])
    line = error_line(training.run())
    assert line.startswith(f"{training.unfinished}, an unfinished training, is damaged")
    assert line.endswith("delete it to start anew")
