"""Killed at any moment, every command ends with the same bytes, and in between the old or the new is there, whole.

A process is killed at an operation on files or after some time of the processor, again and again, then let go to its
end. Each kill is a case.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from drills.drill import Attempt, Drill, Problem

_KILLS = (1, 2, 3)  # of an attempt; then the command is let go to its end
_SECONDS = 300  # for a run, on a machine that does other things too
_KILLED = (-signal.SIGKILL, -signal.SIGPROF)
_FORMS = ("jsonl", "tsv", "parquet", "jsonl.zst", "tsv.gz", "html", "txt")


@dataclass(frozen=True, slots=True)
class Victim:
    """A command that is killed: all that is said of it is said of a folder in which it works."""

    prepare: Callable[[Path], None]
    """Put into the folder what it needs, and what was there before."""
    run: Callable[[Path], None]
    """Do it, in a process of its own; done again after a kill, it goes on or begins anew."""
    is_complete: Callable[[Path], bool]
    """Whether there is nothing left to do."""
    result: Callable[[Path], object]
    """What is there at the end, the names of all files included."""
    between: Callable[[Path], str]
    """What is wrong after a kill, before anybody goes on; nothing if it is empty."""


def drills() -> list[Drill]:
    """One for each command, for `label` one for each form of output."""
    from drills import victims

    counts = {"train": 40, "compare": 30, "export": 30, "save": 40}
    names = [*counts, *(f"label {form}" for form in _FORMS)]
    return [Drill(f"kills, {name}", counts.get(name, 10), partial(_prepared, victims.victim, name)) for name in names]


@contextmanager
def _prepared(victim: Callable[[str], Victim], name: str, scratch: Path) -> Iterator[Attempt]:
    killed = victim(name)
    log = scratch / "log"

    def run(folder: Path, moment: _Moment) -> int:
        return _in_a_process(partial(_work, killed.run, folder, moment, log))

    before, folder = scratch / "before", scratch / "folder"  # always the same one: outputs have its name in them
    before.mkdir()
    killed.prepare(before)
    shutil.copytree(before, folder)
    assert run(folder, _Moment(count=scratch / "count")) == 0, log.read_text()
    expected = killed.result(folder)
    operations, seconds = (float(number) for number in (scratch / "count").read_text().split())

    def attempt(draw: random.Random) -> Iterator[Problem | None]:
        shutil.rmtree(folder)
        shutil.copytree(before, folder)
        moments = []
        for _ in range(draw.choice(_KILLS)):
            if killed.is_complete(folder):
                break
            by_operation = draw.random() < 0.7
            at = draw.randrange(int(operations)) if by_operation else draw.uniform(0.01, seconds)
            moment = _Moment(operation=int(at)) if by_operation else _Moment(seconds=at)
            moments.append(f"{'operation' if by_operation else 'second'} {at:.4g}")
            code = run(folder, moment)
            if code not in (0, *_KILLED):
                yield Problem("crash", f"{moments}: exit code {code}: {log.read_text()[-500:]}")
                return
            wrong = killed.between(folder)
            if wrong:
                yield Problem("lost", f"{moments}: {wrong}")
                return
            if code:
                yield None
        code = 0 if killed.is_complete(folder) else run(folder, _Moment())
        if code:
            yield Problem("crash", f"{moments}, then to the end: exit code {code}: {log.read_text()[-500:]}")
        elif killed.result(folder) != expected:
            yield Problem("lost", f"{moments}: another result at the end")

    yield attempt


@dataclass(frozen=True, slots=True)
class _Moment:
    """When a process is killed, if ever."""

    operation: int | None = None
    """At this operation on files."""
    seconds: float | None = None
    """After this time of the processor."""
    count: Path | None = None
    """Where to write how many operations and seconds there were in all."""


def _in_a_process(work: Callable[[], None]) -> int:
    """The exit code of a process, forked from one that has imported torch."""
    from commands import fork_server

    process = fork_server.Process(target=work)
    process.start()
    process.join(_SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
        return -signal.SIGALRM  # no kill of ours: it is told as a crash, with its log
    return process.exitcode


def _work(run: Callable[[Path], None], folder: Path, moment: _Moment, log: Path) -> None:
    from zerotag.io.files import Disk

    sys.stdout = sys.stderr = log.open("w", encoding="utf-8", buffering=1)
    os.dup2(sys.stderr.fileno(), 2)
    done = 0

    def counted(real: Callable[..., object]) -> Callable[..., object]:
        def operation(*arguments: Any) -> object:
            nonlocal done
            if done == moment.operation:
                os.kill(os.getpid(), signal.SIGKILL)
            done += 1
            return real(*arguments)

        return operation

    for name in ("make_folder", "sync", "rename", "exchange", "remove"):
        mock.patch.object(Disk, name, counted(getattr(Disk, name))).start()
    if moment.seconds is not None:  # SIGPROF ends a process that does not ask for it, as abruptly as SIGKILL
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, moment.seconds)
    before = _cpu_seconds()
    try:
        run(folder)
    except SystemExit as leave:
        if leave.code:
            raise
    if moment.count:
        moment.count.write_text(f"{done} {_cpu_seconds() - before}")


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
