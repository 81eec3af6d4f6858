"""Processor time and memory of a process and all its descendants, sampled while it runs."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import NamedTuple, Self

_SECONDS = 0.5
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_FEWEST = 40  # samples that say something of the course of a process
_WORKER_MEGABYTES = 400.0  # from which on a process has torch and a model


class Sample(NamedTuple):
    """A process at a moment."""

    seconds: float
    """Of processor time since it began."""
    megabytes: float
    """Resident."""


@dataclass(frozen=True, slots=True)
class Course:
    """The memory of a process with a model, in the second quarter of its time and in the last."""

    begun: float
    ended: float


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
    def courses(self) -> list[Course]:
        """The memory of each process that had a model for long enough."""
        with_model = (
            [one.megabytes for one in of_one if one.megabytes >= _WORKER_MEGABYTES] for of_one in self.samples.values()
        )
        return [
            Course(median(of_one[len(of_one) // 4 : len(of_one) // 2]), median(of_one[-len(of_one) // 4 :]))
            for of_one in with_model
            if len(of_one) >= _FEWEST
        ]

    def _watch(self) -> None:
        while not self._end.wait(_SECONDS):
            for process, sample in _descendants(os.getpid()).items():
                self.samples[process].append(sample)


def _descendants(root: int) -> dict[int, Sample]:
    """All processes that a process has started, those of these, and so on."""
    parents: dict[int, int] = {}
    samples: dict[int, Sample] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        process = int(folder.name)
        parents[process] = int(fields[1])
        samples[process] = Sample((int(fields[11]) + int(fields[12])) / _TICKS, int(fields[21]) * _PAGE / 1e6)
    found = {root}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return {process: samples[process] for process in found - {root}}
