"""Killed at any moment, a labelling goes on with --resume and ends with the same bytes."""

from __future__ import annotations

import hashlib
import random
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import tiny
from commands import CommandLine, Outcome, Started
from moments import after_calls, die, die_after, interrupt
from zerotag.bulk.journal import Unfinished
from zerotag.cli import label as label_command

DONE, KILLED = 0, -signal.SIGKILL
FILE_EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate")
AT_ONCE = 20


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """600 sentences in two files, every seventh line of the first without any use."""
    folder = tmp_path_factory.mktemp("sources")
    lines = [" ".join(words).encode() + b"\n" for words, _ in tiny.sentences(600)]
    bad = [
        line for number, line in enumerate(lines[:300]) for line in ([line, b"\xff\n"] if number % 7 == 0 else [line])
    ]
    files = {"a.txt": b"".join(bad), "b.txt": b"".join(lines[300:])}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


def small_chunks() -> None:
    """Many chunks, each of which counts at once."""
    mock.patch.object(label_command, "_AT_ONCE", AT_ONCE).start()
    mock.patch("zerotag.bulk.run.COMMIT_SECONDS", 0.0).start()


def die_at_random() -> None:
    small_chunks()
    after_calls(Unfinished, "commit", random.randint(1, 6), partial(die_after, random.uniform(0, 0.03)))


def die_early() -> None:
    small_chunks()
    after_calls(Unfinished, "commit", 2, die)


def interrupt_early() -> None:
    small_chunks()
    after_calls(Unfinished, "commit", 2, interrupt)  # the first is of an empty output


class Labelling:
    """The same `zerotag label`, any number of times."""

    def __init__(self, folder: Path, name: str, model: Path, sources: Sequence[Path]) -> None:
        self.folder = folder
        self.out = folder / name
        self.rejected = folder / f"{name}.rejected.jsonl"
        self.record = folder / f"{name}.run.json"
        self.journal = folder / f"{name}.partial" / "journal"
        self.arguments = ["label", model, *sources, "--out", self.out, "--resume"]

    def start(self, prepare: Callable[[], None] = small_chunks) -> Started:
        return Started(self.arguments, prepare, self.folder.with_suffix(".log"))

    def run(self, prepare: Callable[[], None] = small_chunks) -> Outcome:
        return self.start(prepare).outcome()

    def result(self) -> tuple[bytes, ...]:
        files = (self.out, self.rejected, self.record)
        assert sorted(self.folder.iterdir()) == sorted(files)
        return tuple(file.read_bytes() for file in files)


@pytest.mark.parametrize("form", ["jsonl.zst", "tsv.gz"])  # those of Parquet are tested with every state, below
def test_killed_at_random_moments(tmp_path: Path, model: Path, sources: list[Path], form: str) -> None:
    undisturbed = Labelling(tmp_path / "undisturbed", f"out.{form}", model, sources)
    disturbed = Labelling(tmp_path / "disturbed", f"out.{form}", model, sources)
    assert undisturbed.run().code == DONE

    assert disturbed.run(die_early).code == KILLED
    for _ in range(2):
        outcome = disturbed.run(die_at_random)
        assert outcome.code in (DONE, KILLED), outcome.err
    assert disturbed.run().code == DONE
    assert disturbed.result() == undisturbed.result()


def content(folder: Path) -> bytes:
    """A digest of the names and bytes of all files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(str(path.relative_to(folder)).encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.digest()


def keep_every_state(folder: Path, copies: Path) -> None:
    """Copy the folder before every operation on files in it; of what is not flushed nothing is there after a kill."""
    mock.patch.object(label_command, "_AT_ONCE", AT_ONCE * 15).start()
    mock.patch("zerotag.bulk.run.COMMIT_SECONDS", 0.0).start()
    busy = False

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal busy
        if not busy and event in FILE_EVENTS and str(folder) in str(arguments[0]) and folder.exists():
            busy = True
            shutil.copytree(folder, copies / f"{len(list(copies.iterdir())):03d}")
            busy = False

    sys.addaudithook(watch)


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_goes_on_from_every_state_that_a_kill_can_leave(
    tmp_path: Path, model: Path, sources: list[Path], zerotag: CommandLine, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    undisturbed = Labelling(tmp_path / "undisturbed", f"out.{form}", model, sources)
    assert undisturbed.run(partial(keep_every_state, undisturbed.folder, copies)).code == DONE
    states = {content(folder): folder for folder in copies.iterdir()}.values()
    assert len(states) > 12

    monkeypatch.setattr(label_command, "_AT_ONCE", AT_ONCE * 15)
    for folder in states:
        killed = Labelling(folder, f"out.{form}", model, sources)
        zerotag.succeeds(*killed.arguments)
        assert killed.result() == undisturbed.result(), folder


def test_interrupted_by_the_user(tmp_path: Path, model: Path, sources: list[Path]) -> None:
    labelling_run = Labelling(tmp_path / "run", "out.jsonl", model, sources)
    outcome = labelling_run.run(interrupt_early)
    assert outcome.code == 130, outcome.err
    assert outcome.err == (
        f"error: stopped; the same command with --resume goes on from {labelling_run.journal.parent}\n"
    )
    again = labelling_run.run()
    assert again.code == DONE
    assert again.err.startswith("going on after ")
    assert "600 sentences, " in again.err


def test_other_arguments_are_refused(tmp_path: Path, model: Path, sources: list[Path], zerotag: CommandLine) -> None:
    out = tmp_path / "out.jsonl"
    killed = Started(["label", model, *sources, "--out", out], die_early, tmp_path / "log")
    assert killed.outcome().code == KILLED
    start = f"{out}.partial holds a run with another "
    end = "; give the same arguments to go on, or start anew with --overwrite"
    others: dict[str, list[object]] = {
        "input": [model, sources[0]],
        "method": [model, *sources, "--method", "random"],
        "threshold": [model, *sources, "--threshold", "0.7"],
        "output format": [model, *sources, "--no-source"],
        "text column": [model, *sources, "--text-column", "body"],
    }
    for what, arguments in others.items():
        line = zerotag.fails("label", *arguments, "--out", out, "--resume")
        assert line.startswith(start)
        assert line.endswith(end)
        assert what in line.removeprefix(start).removesuffix(end).split(", ")
    zerotag.succeeds("label", model, *sources, "--out", out, "--overwrite", "--method", "random")
    assert len(out.read_text().splitlines()) == 600
