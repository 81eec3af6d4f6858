"""How far long work has come: a live bar in a terminal or a notebook, a line now and then in a log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sized
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from zerotag.render.notebook import Bar

if TYPE_CHECKING:
    from zerotag.training.loop import Progress

T = TypeVar("T", bound=Sized)
SECONDS_BETWEEN_LINES = 30.0

Say = Callable[[str], None]
"""What becomes of a line, where there is no bar."""

_log = logging.getLogger("zerotag")


class LiveBar:
    """A context with a bar on standard error, where that is a terminal, or in a notebook; elsewhere lines are said.

    Args:
        say: what becomes of a line; by default it is logged (logger `zerotag`, level INFO).
        silent: no bar, and no lines either.
        transient: the bar disappears when it is done.
    """

    def __init__(self, say: Say = _log.info, *, silent: bool = False, transient: bool = False) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        console = Console(stderr=True)
        self.live = (console.is_terminal or console.is_jupyter) and not silent
        self._transient = transient
        self._in_notebook = Bar() if console.is_jupyter and self.live else None  # rich would need ipywidgets
        self._say = say
        self._bar = Progress(
            BarColumn(bar_width=14),  # all of a line fits into 80 columns
            TextColumn("{task.description}"),
            console=console,
            disable=not self.live or self._in_notebook is not None,
            transient=transient,
        )
        self._task = self._bar.add_task("starting", total=None)
        self._silent = silent
        self._said = monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        if self._in_notebook is not None:
            self._in_notebook.close(transient=self._transient)

    def draw(self, words: str, done: float, total: float | None) -> None:
        """Show how much is done, in words and as a bar."""
        if self._in_notebook is not None:
            self._in_notebook.draw(words, done, total)
        self._bar.update(self._task, total=total, completed=done, description=words)

    def show_or_say(self, words: str, done: float, total: float | None, *, now: bool = False) -> None:
        """Draw the bar; where there is none, give out a line from time to time, or at once."""
        if self.live:
            self.draw(words, done, total)
        elif not self._silent and (now or monotonic() - self._said >= SECONDS_BETWEEN_LINES):
            self._said = monotonic()
            self._say(words)


def with_bar(parts: Iterable[T], total: int) -> Iterator[T]:
    """Go through the results of texts, which come in parts, and show how many have come."""
    with LiveBar(silent=False, transient=True) as bar:
        done = 0
        for part in parts:
            done += len(part)
            bar.draw(f"{done:,} of {total:,} texts", done, total)
            yield part


class TrainingProgress(LiveBar):
    """A context in which `show` draws a training's progress."""

    _started = False

    def show(self, progress: Progress) -> None:
        """Draw the state of the training."""
        words = describe(progress)
        if not self._started and progress.steps_done > 1:
            self._say(f"going on in epoch {progress.epoch} of {progress.epochs}")
        self._started = True
        if self.live:
            words = f"{100 * progress.steps_done / progress.steps:3.0f} % {words}"
        now = progress.epoch == progress.epochs_done
        self.show_or_say(words, progress.steps_done, progress.steps, now=now)


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
