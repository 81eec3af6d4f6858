"""A process that tries one case after the other; when one ends or stalls it, a new process takes its place."""

from __future__ import annotations

import importlib
import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from drills.drill import Problem
from zerotag.errors import ZerotagError

_MEGABYTES = 1000  # above what the process has before its first case
_STALLED_SECONDS = 180.0  # without an answer, on a machine that does other things too
_FEWEST_SECONDS = 2.0  # of the processor, which any case may take
_SECONDS_PER_MEGABYTE = 10.0
_ROOM = 6 << 30  # bytes of addresses that a case may take before it fails, so that it takes no other process along

Work = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case."""

    kind: Literal["done", "refused", "crash", "hang", "lost"]
    reason: str = ""
    value: Any = None

    def problem(self, name: str) -> Problem | None:
        """What is wrong with it, if anything is."""
        if self.kind == "done" or self.kind == "refused":
            return None
        return Problem(self.kind, f"{name}: {self.reason}")


class LostError(Exception):
    """What a case gave is not what it should be."""


class Isolated:
    """The process; `work` gets a case, and what it returns comes back."""

    def __init__(self, work: Work, *modules: str) -> None:
        """With modules to import first: what every process has is not a case's doing."""
        self._context = multiprocessing.get_context("spawn")
        self._function = work
        self._modules = modules
        self._start()

    def __call__(self, case: object, megabytes: float = 0.0) -> Outcome:
        """What becomes of a case with so much input."""
        self._ours.send((case, max(_FEWEST_SECONDS, _SECONDS_PER_MEGABYTE * megabytes)))
        try:
            if self._ours.poll(_STALLED_SECONDS):
                outcome: Outcome = self._ours.recv()
                return outcome
            outcome = Outcome("hang", f"no answer within {_STALLED_SECONDS:g} s")
        except EOFError:
            self._process.join()
            outcome = Outcome("crash", f"exit code {self._process.exitcode}")
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
        self._process = self._context.Process(target=_serve, args=(theirs, self._function, self._modules), daemon=True)
        self._process.start()
        theirs.close()


def _serve(connection: Connection, work: Work, modules: tuple[str, ...]) -> None:
    for module in modules:
        importlib.import_module(module)
    _limit_memory()
    _forget_peak()
    idle = _peak()
    while True:
        try:
            case, seconds = connection.recv()
        except EOFError:
            return
        _forget_peak()
        started = time.process_time()
        outcome = _outcome(work, case)
        taken = time.process_time() - started
        if taken > seconds and outcome.kind in ("done", "refused"):
            outcome = replace(outcome, kind="hang", reason=f"{taken:.1f} s of the processor; allowed: {seconds:.1f}")
        if _peak() - idle > _MEGABYTES:
            outcome = Outcome("crash", f"{_peak() - idle:.0f} MB of memory")
        connection.send(outcome)


def _outcome(work: Work, case: object) -> Outcome:
    try:
        return Outcome("done", value=work(case))
    except ZerotagError as error:
        lines = str(error).splitlines()
        return Outcome("refused", str(error)) if len(lines) == 1 else Outcome("crash", f"{len(lines)} lines: {error}")
    except LostError as error:
        return Outcome("lost", str(error))
    except BaseException as error:
        return Outcome("crash", f"{type(error).__name__}: {str(error)[:200]}")


def _limit_memory() -> None:
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + _ROOM, now + _ROOM))


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    """The most megabytes of memory since the peak was forgotten."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
