"""How far a training has come: a live bar in a terminal, a line per epoch and now and then in a log."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self

import typer

if TYPE_CHECKING:
    from zerotag.training.recipe import Progress

SECONDS_BETWEEN_LINES = 30.0


class LiveBar:
    """A context with a bar on standard error, where that is a terminal."""

    def __init__(self, *, silent: bool = False, transient: bool = False) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.live = sys.stderr.isatty() and not silent
        self._bar = Progress(
            BarColumn(bar_width=14),  # all of a line fits into 80 columns
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            disable=not self.live,
            transient=transient,
        )
        self._task = self._bar.add_task("starting", total=None)
        self._said = monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def draw(self, words: str, done: float, total: float | None) -> None:
        """Show how much is done, in words and as a bar."""
        self._bar.update(self._task, total=total, completed=done, description=words)

    @property
    def silent_for_long(self) -> bool:
        """Whether a log should have a line by now."""
        return monotonic() - self._said >= SECONDS_BETWEEN_LINES

    def say(self, words: str) -> None:
        """Write a line, where there is no bar."""
        self._said = monotonic()
        typer.echo(words, err=True)


class TrainingProgress(LiveBar):
    """A context in which `show` draws a training's progress on standard error."""

    _started = False

    def show(self, progress: Progress) -> None:
        """Draw the state of the training."""
        words = describe(progress)
        if not self._started and progress.steps_done > 1:
            typer.echo(f"going on in epoch {progress.epoch} of {progress.epochs}", err=True)
        self._started = True
        if self.live:
            percent = 100 * progress.steps_done / progress.steps
            self.draw(f"{percent:3.0f} % {words}", progress.steps_done, progress.steps)
        elif progress.epoch == progress.epochs_done or self.silent_for_long:
            self.say(words)


def describe(progress: Progress) -> str:
    """One line: epoch, loss, development F1, time left."""
    parts = [f"epoch {progress.epoch}/{progress.epochs}", f"loss {progress.loss:.4f}"]
    if progress.best_f1 is not None:
        parts.append(f"{'teacher' if progress.of_teacher else 'dev'} F1 {100 * progress.best_f1:.1f}")
    if progress.stopped:
        parts.append("stopped, as it gets no better")
    elif progress.seconds_left:
        parts.append(f"{duration(progress.seconds_left)} left")
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """Seconds as 45 s, 3:20 or 2:05:00."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
