"""How far a labelling has come: a live bar in a terminal, a line now and then in a log, a summary in the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from zerotag.cli.progress import LiveBar, duration

if TYPE_CHECKING:
    from zerotag.bulk.run import Progress
    from zerotag.bulk.state import State


class LabellingProgress(LiveBar):
    """A context in which `show` draws a labelling's progress on standard error, unless it is to be silent."""

    def __init__(self, *, silent: bool) -> None:
        super().__init__(silent=silent, transient=True)  # the summary takes its place
        self._silent = silent

    def show(self, progress: Progress) -> None:
        """Draw the state of the labelling."""
        if self.live:
            self.draw(describe(progress), progress.share or 0.0, None if progress.share is None else 1.0)
        elif not self._silent and self.silent_for_long:
            self.say(describe(progress))


def describe(progress: Progress) -> str:
    """One line: how much of the input, sentences, rate, time left, rejected records."""
    parts = [] if progress.share is None else [f"{100 * progress.share:.0f} %"]
    parts += [f"{progress.sentences:,} sentences", f"{_number(progress.rate)}/s"]
    if progress.seconds_left is not None:
        parts.append(f"{duration(progress.seconds_left)} left")
    if progress.rejected:
        parts.append(f"{progress.rejected:,} rejected")
    return " · ".join(parts)


def summary(state: State, label_names: Sequence[str]) -> Iterator[str]:
    """What was done in all, resumed runs together, and how many sentences and words have each label."""
    rate = state.sentences / max(state.seconds, 1e-9)
    yield (
        f"{state.sentences:,} sentences, {state.words:,} words in {duration(state.seconds)} "
        f"({_number(rate)} sentences/s), {state.rejected:,} records rejected"
    )
    for name in label_names:
        yield f"{name}: {state.positive_sentences[name]:,} sentences, {state.positive_words[name]:,} words"


def _number(rate: float) -> str:
    """Whole, or with two digits that count if it is small: LIME takes many seconds for a sentence."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
