"""Ctrl-C while something is under way that should not be lost."""

from __future__ import annotations

import io
import signal
import sys
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from zerotag.cli.interrupts import between_steps

if TYPE_CHECKING:
    from typing_extensions import Buffer

ANSWER = "stopping after this step; Ctrl-C again stops at once\n"


def test_the_first_asks_and_the_second_stops_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with between_steps() as stop:
        assert not stop.asked
        signal.raise_signal(signal.SIGINT)
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert capsys.readouterr().err == ANSWER
    assert signal.getsignal(signal.SIGINT) == before


class Interrupted(io.RawIOBase):
    """A terminal at which Ctrl-C is pressed while the first line is on its way."""

    def __init__(self) -> None:
        self.written = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        if not self.written:
            signal.raise_signal(signal.SIGINT)
        self.written += bytes(data)
        return len(bytes(data))


def test_in_the_midst_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Interrupted()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BufferedWriter(terminal), line_buffering=True))
    with between_steps() as stop:
        print("epoch 1/14", file=sys.stderr)
        assert stop.asked
    assert terminal.written.decode() == "epoch 1/14\n" + ANSWER


def test_where_it_is_to_be_ignored_it_is() -> None:
    """As in what a script starts with &, which Ctrl-C is not meant for."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with between_steps() as stop:
            signal.raise_signal(signal.SIGINT)
            assert not stop.asked
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_signals_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def work() -> None:
        with between_steps():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
