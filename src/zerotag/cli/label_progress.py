"""How far a labelling has come: a live bar in a terminal, a line now and then in a log, a summary in the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING

from zerotag.cli.options import say
from zerotag.render.progress import LiveBar, duration
from zerotag.text.printable import one_line

if TYPE_CHECKING:
    from zerotag.bulk.run import Progress
    from zerotag.bulk.shards.ray_engine import Share
    from zerotag.bulk.shards.status import Status
    from zerotag.bulk.state import State


class LabellingProgress(LiveBar):
    """A context in which `show` draws a labelling's progress on standard error, unless it is to be silent."""

    def __init__(self, *, silent: bool) -> None:
        super().__init__(say, silent=silent, transient=True)  # the summary takes its place

    def show(self, progress: Progress, of: str = "") -> None:
        """Draw the state of the labelling, or of what part of it."""
        self.show_or_say(of + describe(progress), progress.share or 0.0, None if progress.share is None else 1.0)


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
        yield f"{one_line(name)}: {state.positive_sentences[name]:,} sentences, {state.positive_words[name]:,} words"


def show_summary(state: State, label_names: Sequence[str], out: Path | None) -> None:
    """Say what was done, and where the rejected records are listed."""
    from zerotag.bulk.journal import rejects_of

    for line in summary(state, label_names):
        say(line)
    if out is not None and state.rejected:
        say(f"the rejected records are listed in {rejects_of(out)}")


def describe_share(share: Share) -> str:
    """One line: how many shards, sentences, rate, time left."""
    parts = [f"{share.shards_done:,} of {share.shards:,} shards", f"{share.sentences:,} sentences"]
    parts.append(f"{_number(share.rate)}/s")
    if share.seconds_left is not None:
        parts.append(f"{duration(share.seconds_left)} left")
    return " · ".join(parts)


def describe_status(status: Status) -> Iterator[str]:
    """How many shards are done and what they found; who is at work, how fast; what failed, and what was left behind."""
    counts = status.counts
    groups: dict[str, Sized] = {
        "done": status.done,
        "running": status.running,
        "failed": status.failed,
        "stale": status.stale,
        "waiting": status.waiting,
    }
    yield " · ".join(f"{len(group):,} {name}" for name, group in groups.items() if group)
    left = "" if status.seconds_left is None else f", {duration(status.seconds_left)} left"
    yield f"{100 * status.share:.1f} % of the bytes · {_number(status.sentences_per_second)} sentences/s now{left}"
    if counts.sentences:
        yield f"{counts.sentences:,} sentences, {counts.words:,} words, {counts.rejected:,} records rejected so far"
    for number, one in status.running.items():
        yield f"shard {number} running on {one.worker}: {100 * one.share:.0f} %, {_number(one.sentences_per_second)}/s"
    for number, one in status.stale.items():
        yield f"shard {number} stale: no sign of life from {one.worker} for {duration(one.age)}"
    for number, failure in status.failed.items():
        times = f" {failure.times} times" if failure.times > 1 else ""
        yield f"shard {number} failed{times}, on {failure.worker}: {one_line(failure.error)}"


def _number(rate: float) -> str:
    """Whole, or with two digits that count if it is small: LIME takes many seconds for a sentence."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
