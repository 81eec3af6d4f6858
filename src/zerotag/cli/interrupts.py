"""Ctrl-C at a moment when nothing is lost by it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread

import typer


@contextmanager
def between_steps() -> Iterator[Event]:
    """A context in which the first Ctrl-C only asks to stop after the step at hand; the second stops at once."""
    asked = Event()

    def hear(*_: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        typer.echo("stopping after this step; Ctrl-C again stops at once", err=True)

    if current_thread() is not main_thread():  # which alone hears signals
        yield asked
        return
    before = signal.signal(signal.SIGINT, hear)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
