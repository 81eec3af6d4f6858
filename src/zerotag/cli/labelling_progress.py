"""How far a labelling has come: a live bar in a terminal, a line now and then in a log, a summary in the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING

import typer

from zerotag.cli.progress import duration

if TYPE_CHECKING:
    from zerotag.bulk.run import Progress
    from zerotag.bulk.state import State

_SECONDS_BETWEEN_LINES = 30.0


class LabellingProgress:
    """A context in which `show` draws a labelling's progress on standard error, unless it is to be silent."""

    def __init__(self, *, silent: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self._silent = silent
        self._live = sys.stderr.isatty() and not silent
        self._said = monotonic()
        self._bar = Bar(
            BarColumn(bar_width=15),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            disable=not self._live,
            transient=True,  # the summary takes its place
        )
        self._task = self._bar.add_task("starting", total=None)

    def __enter__(self) -> LabellingProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def show(self, progress: Progress) -> None:
        """Draw the state of the labelling."""
        if self._live:
            total = None if progress.share is None else 1.0
            self._bar.update(self._task, total=total, completed=progress.share or 0.0, description=describe(progress))
        elif not self._silent and monotonic() - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = monotonic()
            typer.echo(describe(progress), err=True)


def describe(progress: Progress) -> str:
    """One line: how much of the input, sentences, rate, time left, rejected records."""
    parts = [] if progress.share is None else [f"{100 * progress.share:.0f} %"]
    parts += [f"{progress.sentences:,} sentences", f"{progress.rate:,.0f}/s"]
    if progress.seconds_left is not None:
        parts.append(f"{duration(progress.seconds_left)} left")
    if progress.rejected:
        parts.append(f"{progress.rejected:,} rejected")
    return " · ".join(parts)


def summary(state: State, label_names: Sequence[str]) -> Iterator[str]:
    """What was done in all, resumed runs together, and how many sentences and words have each label."""
    rate = state.sentences / max(state.seconds, 1e-9)
    yield (
        f"{state.sentences:,} sentences, {state.words:,} words in {duration(state.seconds)} ({rate:,.0f} sentences/s), "
        f"{state.rejected:,} records rejected"
    )
    for name in label_names:
        yield f"{name}: {state.positive_sentences[name]:,} sentences, {state.positive_words[name]:,} words"
