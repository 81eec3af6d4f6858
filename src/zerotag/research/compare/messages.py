"""What is said between those who make runs and those who schedule them. No torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from zerotag.research.compare.experiment import Run


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that share a corpus, a seed and a training, if they have one."""

    corpus: str
    training: str | None
    seed: int
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What is being done."""

    message: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A run has its file."""

    run: Run
    outcome: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A run has none, and why."""

    run: Run
    reason: str
    unexpected: bool = False
    """Something broke, as opposed to bad input."""


Tell = Callable[[Said | Finished | Failed], None]

Heartbeat = Callable[[str], None]
"""Called often with what is being done; raises `Stopped` to have it stopped."""


class Bench(Protocol):
    """Makes runs."""

    def prepare(self) -> None:
        """Called once in each worker process."""

    def carry_out(self, group: Group, heartbeat: Heartbeat, tell: Tell) -> None:
        """Make the runs of a group and tell of each whether it finished or failed."""
