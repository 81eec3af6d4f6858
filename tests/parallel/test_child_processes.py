"""Processes that another one of ours starts."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from zerotag.parallel.child_processes import ignoring_interrupts

PRESSED = "import signal; signal.raise_signal(signal.SIGINT); print('alive')"


def test_they_do_not_hear_it_and_we_do() -> None:
    with ignoring_interrupts():
        child = subprocess.Popen([sys.executable, "-c", PRESSED], stdout=subprocess.PIPE, text=True)
    assert child.communicate(timeout=60)[0] == "alive\n"
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_we_hear_what_came_meanwhile() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), ignoring_interrupts():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        reached = True
    assert reached
