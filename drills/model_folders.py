"""Mutated model folders: each is loaded, or refused with one line, in bounded time and memory, and nothing runs.

`python -m drills.model_folders 1400 1` tries 1,400 mutations with the seed 1.
"""

from __future__ import annotations

import multiprocessing
import resource
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from drills.folder_mutations import Mutation, mutations
from drills.summary import Summary

SECONDS = 60.0  # for one load, on a machine that does other things too
_MEGABYTES = 1000  # above what the process has before its first case
_TEXTS = (["the", "pump", "may", "fail", "."], ["our", "engine", "works", "at", "night"], ["valve"] * 100)
Scores = list[list[float]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a folder."""

    kind: str  # loaded, refused, crashed, hung
    reason: str = ""
    scores: Scores | None = None


def run(cases: int, seed: int) -> Summary:
    """Try so many mutations, half of a torch and half of an ONNX folder."""
    began = time.monotonic()
    summary = Summary("model folders")
    with tempfile.TemporaryDirectory() as scratch:
        for base, count in zip(build(Path(scratch)), (cases - cases // 2, cases // 2), strict=True):
            _try_all(base, count, seed, summary)
    summary.seconds = time.monotonic() - began
    return summary


def build(place: Path) -> tuple[Path, Path]:
    """A folder of a tiny model for torch, and of the same one for ONNX Runtime."""
    import tiny
    from zerotag.inference.onnx_export import export

    labeller = tiny.labeller(labels=("hedge", "doubt"))
    labeller.save_pretrained(place / "torch")
    export(labeller, place / "onnx")
    return place / "torch", place / "onnx"


def _try_all(base: Path, count: int, seed: int, summary: Summary) -> None:
    files = tuple(sorted(file.name for file in base.iterdir() if file.name != "README.md"))
    loader = Loader()
    try:
        expected = loader.load(base).scores
        assert expected is not None, f"{base} does not load"
        for mutation in mutations(files, count, seed):
            with tempfile.TemporaryDirectory() as scratch:
                folder = shutil.copytree(base, Path(scratch, "model"))
                mutation.apply(folder)
                outcome = loader.load(folder)
            _judge(f"{base.name}: {mutation.name}", mutation, outcome, expected, summary)
    finally:
        loader.stop()


def _judge(name: str, mutation: Mutation, outcome: Outcome, expected: Scores, summary: Summary) -> None:
    summary.cases += 1
    changed = outcome.kind == "loaded" and not mutation.resealed and outcome.scores != expected
    summary.crashes += outcome.kind == "crashed"
    summary.hangs += outcome.kind == "hung"
    summary.lost += changed
    if outcome.kind in ("crashed", "hung") or changed:
        summary.notes.append(f"{name}: {outcome.kind} {outcome.reason}")


class Loader:
    """A process that loads folders one after the other; when one ends or stalls it, a new process takes its place."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def load(self, folder: Path) -> Outcome:
        """What becomes of a folder."""
        self._ours.send(folder)
        try:
            if self._ours.poll(SECONDS):
                outcome: Outcome = self._ours.recv()
                return outcome
            outcome = Outcome("hung", f"more than {SECONDS:g} s")
        except EOFError:
            self._process.join()
            outcome = Outcome("crashed", f"exit code {self._process.exitcode}")
        self.stop()
        self._start()
        return outcome

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._ours.close()

    def _start(self) -> None:
        self._ours, theirs = self._context.Pipe()
        self._process = self._context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()


def _work(connection: Connection) -> None:
    import torch  # noqa: F401 (what every process has is not a folder's doing)
    import transformers.models.bert.modeling_bert  # noqa: F401

    idle = _peak()
    while True:
        try:
            folder = connection.recv()
        except EOFError:
            return
        outcome = _outcome(folder)
        if _peak() - idle > _MEGABYTES:
            outcome = Outcome("crashed", f"{_peak() - idle:.0f} MB of memory")
        connection.send(outcome)
        idle = _peak()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _outcome(folder: Path) -> Outcome:
    from zerotag.errors import ZerotagError
    from zerotag.labeller import load
    from zerotag.types import Sentence

    try:
        scored = load(folder, device="cpu").score(map(Sentence.from_words, _TEXTS))
        return Outcome("loaded", scores=[[*one.sentence_scores, *one.word_scores.ravel().tolist()] for one in scored])
    except ZerotagError as error:
        lines = str(error).splitlines()
        return Outcome("refused", str(error)) if len(lines) == 1 else Outcome("crashed", f"{len(lines)} lines: {error}")
    except BaseException as error:
        return Outcome("crashed", f"{type(error).__name__}: {str(error)[:200]}")


if __name__ == "__main__":
    found = run(int(sys.argv[1]), int(sys.argv[2]))
    print(*found.notes, found, sep="\n")
    raise SystemExit(not found.clean)
