"""Ctrl-C at a moment when nothing is lost by it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread

import typer


@dataclass
class Stop:
    """Whether the user has asked for it."""

    asked: bool = False

    def check(self) -> None:
        """Between two steps: stop if so."""
        if self.asked:
            raise KeyboardInterrupt


@contextmanager
def between_steps() -> Iterator[Stop]:
    """A context in which the first Ctrl-C only asks to stop after the step at hand; the second stops at once."""
    stop = Stop()
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield stop  # nobody hears signals but the main thread, and not even that one behind a script's &
        return
    with _answers() as answers:

        def hear(*_: object) -> None:
            if stop.asked:
                raise KeyboardInterrupt
            stop.asked = True
            answers.put("stopping after this step; Ctrl-C again stops at once")

        before = signal.signal(signal.SIGINT, hear)
        try:
            yield stop
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def resumable(unfinished: Path) -> Iterator[Stop]:
    """As `between_steps`, for a training that is kept in a folder and goes on there."""
    try:
        with between_steps() as stop:
            yield stop
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; the same command goes on from {unfinished}") from None


@contextmanager
def _answers() -> Iterator[SimpleQueue[str | None]]:
    """Lines for standard error, written in a thread: a signal may come in the midst of a write, which none can enter.

    Of all queues this kind alone may be put into from there.
    """
    lines: SimpleQueue[str | None] = SimpleQueue()

    def write() -> None:
        while (line := lines.get()) is not None:
            typer.echo(line, err=True)

    writer = Thread(target=write, daemon=True)
    writer.start()
    try:
        yield lines
    finally:
        lines.put(None)
        writer.join()
