"""Processor time and memory of a process and all its descendants, sampled while it runs."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from types import TracebackType
from typing import NamedTuple, Self

_SECONDS = 0.5
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_FEWEST = 5  # samples that say something of a time


class Sample(NamedTuple):
    """A process at a moment."""

    at: float
    """Seconds since 1970."""
    seconds: float
    """Of processor time since it began."""
    megabytes: float
    """Resident."""


class ProcessTree:
    """A context in which the descendants of this process are sampled."""

    def __init__(self) -> None:
        self.samples: defaultdict[int, list[Sample]] = defaultdict(list)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wall_seconds = time.monotonic() - self._began
        self._end.set()
        self._thread.join()

    @property
    def processor_seconds(self) -> float:
        """Of all that ran, up to the last sample of each."""
        return sum(of_one[-1].seconds for of_one in self.samples.values())

    @property
    def peak_megabytes(self) -> float:
        """Of the process that used most memory."""
        return max(sample.megabytes for of_one in self.samples.values() for sample in of_one)

    def growth(self, process: int, done: Sequence[float]) -> float | None:
        """The memory of a process in the last quarter of its work, by that in the second; None if that took too little.

        The first quarter is left out: in it modules are loaded and buffers find their size.

        Args:
            process: which one.
            done: when it came to the end of each piece of its work.
        """
        if len(done) < _FEWEST:
            return None
        first, half, third = quantiles(done, n=4)
        before, after = self._megabytes(process, first, half), self._megabytes(process, third, max(done))
        return median(after) / median(before) if min(len(before), len(after)) >= _FEWEST else None

    def _megabytes(self, process: int, since: float, until: float) -> list[float]:
        return [one.megabytes for one in self.samples[process] if since <= one.at <= until]

    def _watch(self) -> None:
        while not self._end.wait(_SECONDS):
            for process, sample in _descendants(os.getpid()).items():
                self.samples[process].append(sample)


def _descendants(root: int) -> dict[int, Sample]:
    """All processes that a process has started, those of these, and so on."""
    now = time.time()
    parents: dict[int, int] = {}
    samples: dict[int, Sample] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        process = int(folder.name)
        parents[process] = int(fields[1])
        samples[process] = Sample(now, (int(fields[11]) + int(fields[12])) / _TICKS, int(fields[21]) * _PAGE / 1e6)
    found = {root}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return {process: samples[process] for process in found - {root}}
