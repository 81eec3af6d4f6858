"""The command line in tests: inside this process, which is quick, or in a process of its own, which can be killed."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from unittest import mock

import pytest

import zerotag
from zerotag.cli import main

# A real process of its own: the interpreter starts anew, and ends as a shell would see it.
COMMAND = (sys.executable, "-m", "zerotag")
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(zerotag.__file__).parents[1]),
    "PYTHONUNBUFFERED": "",  # what a full disk could not take is then left over at the end
}

# Processes that are forked from a server which has imported torch already: as real, and there at once.
fork_server = multiprocessing.get_context("forkserver")
fork_server.set_forkserver_preload(
    ["zerotag.cli.app", "zerotag.training.recipe", "transformers.models.bert.modeling_bert"]
)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


class CommandLine:
    """Runs `zerotag` inside this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object, stdin: str = "") -> Outcome:
        self._capsys.readouterr()
        given = io.TextIOWrapper(io.BytesIO(stdin.encode()))
        hears = signal.getsignal(signal.SIGINT)
        with mock.patch("sys.argv", ["zerotag", *map(str, arguments)]), mock.patch("sys.stdin", given):
            try:
                main()
                code = 0
            except SystemExit as leave:
                code = int(leave.code or 0)
            finally:
                signal.signal(signal.SIGINT, hears)  # after Ctrl-C a program is deaf
        return Outcome(code, *self._capsys.readouterr())

    def succeeds(self, *arguments: object, stdin: str = "") -> str:
        """What it printed; it must not fail."""
        outcome = self(*arguments, stdin=stdin)
        assert outcome.code == 0, outcome.err
        return outcome.out

    def fails(self, *arguments: object, stdin: str = "") -> str:
        """Its error message, which must be one line, with exit code 2."""
        outcome = self(*arguments, stdin=stdin)
        return error_line(outcome)


def error_line(outcome: Outcome) -> str:
    """The message of a command that failed as commands should."""
    assert outcome.code == 2, outcome
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1, outcome.err
    assert outcome.err.endswith("\n")
    assert "Traceback" not in outcome.err
    return outcome.err.removeprefix("error: ").rstrip("\n")


class Started:
    """A `zerotag` in a process of its own; `prepare` runs there first."""

    def __init__(self, arguments: Sequence[object], prepare: Callable[[], None], log: Path) -> None:
        self._log = log
        self.process: ForkServerProcess = fork_server.Process(
            target=_in_child, args=([str(argument) for argument in arguments], prepare, log)
        )
        self.process.start()

    @property
    def err(self) -> str:
        """What it has written to standard error so far."""
        return self._log.read_text(encoding="utf-8") if self._log.exists() else ""

    def outcome(self) -> Outcome:
        """Wait for its end; a negative code is the signal that ended it."""
        self.process.join(60)
        code = self.process.exitcode
        assert code is not None, "still running"
        return Outcome(code, "", self.err)


def _in_child(arguments: list[str], prepare: Callable[[], None], log: Path) -> None:
    sys.argv = ["zerotag", *arguments]
    with log.open("w", encoding="utf-8", buffering=1) as err, redirect_stderr(err), redirect_stdout(io.StringIO()):
        prepare()
        try:
            main()
        except Exception:
            traceback.print_exc()  # multiprocessing would write it elsewhere
            raise
