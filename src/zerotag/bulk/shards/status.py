"""How far a plan is: which shards are done, running, failed or left behind, how fast, and how long it takes on."""

from __future__ import annotations

from dataclasses import dataclass

from zerotag.bulk.shards.markers import Done, Failed, Markers, Running, total
from zerotag.bulk.shards.plan import Plan
from zerotag.bulk.state import State


@dataclass(frozen=True, slots=True)
class Status:
    """The shards of a plan by what became of them; each is in one place only."""

    done: dict[int, Done]
    running: dict[int, Running]
    stale: dict[int, Running]
    """Those whose worker has not been heard of for long."""
    failed: dict[int, Failed]
    waiting: list[int]
    share: float
    """How much of the bytes is done."""
    counts: State
    """What the shards found that are done."""
    sentences_per_second: float
    seconds_left: float | None
    """At the present rate; None if nobody is at work."""


def status_of(plan: Plan, markers: Markers) -> Status:
    """How far a plan is."""
    done = markers.all(Done)
    signs = {number: one for number, one in markers.all(Running).items() if number not in done}
    running = {number: one for number, one in signs.items() if not one.is_stale}
    failed = {n: one for n, one in markers.all(Failed).items() if n not in done and n not in running}
    stale = {number: one for number, one in signs.items() if one.is_stale and number not in failed}
    sizes = {number: shard.bytes for number, shard in enumerate(plan.shards)}
    finished = sum(sizes[n] for n in done) + sum(sizes[n] * one.share for n, one in running.items())
    rate = sum(one.bytes_per_second for one in running.values())
    whole = sum(sizes.values()) or 1
    return Status(
        done=done,
        running=running,
        stale=stale,
        failed=failed,
        waiting=[n for n in sizes if not any(n in group for group in (done, running, stale, failed))],
        share=finished / whole,
        counts=total(done.values()),
        sentences_per_second=sum(one.sentences_per_second for one in running.values()),
        seconds_left=(whole - finished) / rate if rate else None,
    )
