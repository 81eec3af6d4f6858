"""What a drill is, how one is carried out, taken up again after a stop, and what is said of it in one line."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from zerotag.io.files import whole_file

_SAVE_SECONDS = 5.0


class Problem(NamedTuple):
    """A case that went wrong."""

    kind: Literal["crash", "hang", "lost"]
    """Anything but success or one clear line (a traceback, a signal, another exit code, more than 1 GB of memory); no
    end in time; or outputs that were lost, are stale, or differ without a word."""

    what: str
    """The case and what became of it."""


Attempt = Callable[[random.Random], Iterable[Problem | None]]
"""Tries one or more cases, drawn from a generator, and yields what went wrong with each, or None."""


@dataclass(frozen=True, slots=True)
class Drill:
    """So many cases of a kind."""

    name: str
    cases: int
    prepared: Callable[[Path], AbstractContextManager[Attempt]]
    """A context, with a folder for scratch files, in which cases can be tried."""


@dataclass(slots=True)
class Summary:
    """How many cases were tried and how many of them went wrong."""

    name: str
    wanted: int
    cases: int = 0
    attempts: int = 0
    seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether all cases were tried and nothing went wrong."""
        return not self.problems and self.cases >= self.wanted

    def count(self, kind: str) -> int:
        """Problems of a kind."""
        return sum(problem.kind == kind for problem in self.problems)

    def __str__(self) -> str:
        left = f" of {self.wanted:,}" if self.cases < self.wanted else ""
        crashes, hangs, lost = (self.count(kind) for kind in ("crash", "hang", "lost"))
        found = f"{crashes:3} crashes  {hangs:3} hangs  {lost:3} lost or stale"
        return f"{self.name:24} {self.cases:7,}{left} cases  {found}  {self.seconds:5.0f} s"


def carry_out(drill: Drill, seed: int, state: Path | None = None, until: float = float("inf")) -> Summary:
    """Try the cases of a drill, up to a moment of the clock, from where its state says that it was stopped."""
    summary = _read(state) or Summary(drill.name, drill.cases)
    before, started = summary.seconds, time.monotonic()
    saved = started
    with tempfile.TemporaryDirectory() as scratch, drill.prepared(Path(scratch)) as attempt:
        while summary.cases < drill.cases and time.time() < until:
            number = summary.attempts
            found = list(attempt(random.Random(f"{seed} {drill.name} {number}")))
            summary.problems += [Problem(one.kind, f"{drill.name} {number}: {one.what}") for one in found if one]
            summary.cases += len(found)
            summary.attempts += 1
            summary.seconds = before + time.monotonic() - started
            if state and time.monotonic() - saved > _SAVE_SECONDS:
                _write(state, summary)
                saved = time.monotonic()
    if state:
        _write(state, summary)
    return summary


def _read(state: Path | None) -> Summary | None:
    if state is not None:
        with suppress(FileNotFoundError):
            values = json.loads(state.read_text(encoding="utf-8"))
            return Summary(**{**values, "problems": [Problem(*one) for one in values["problems"]]})
    return None


def _write(state: Path, summary: Summary) -> None:
    with whole_file(state) as file:
        json.dump(asdict(summary), file)
