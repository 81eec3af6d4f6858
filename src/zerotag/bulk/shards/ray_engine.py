"""The shards of a plan, handed out by Ray to whoever is free.

Ray Core, not Ray Data: a shard is a file in the end, which somebody writes from its first byte to its last. Ray Data
hands out blocks of rows, several at a time and in any order; which file a row is in, and whether it is in one already,
would need an id for each row. Here the markers of the shards say what is done, with Ray or without.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic

from zerotag.bulk.shards.markers import Done, Markers
from zerotag.bulk.shards.plan import Plan, read_plan
from zerotag.bulk.shards.worker import Worker
from zerotag.io.locks import BusyError
from zerotag.io.stores import store_at
from zerotag.parallel.ray_pool import Cluster, GivenUp, Patience, RayPool, Returned, Tell, Work

_PATIENCE = Patience(deaths=20, errors=3, not_counted=(BusyError,))


@dataclass(frozen=True, slots=True)
class Share:
    """How far a plan is, by what this engine has done."""

    shards_done: int
    shards: int
    sentences: int
    rate: float
    """Sentences per second."""
    seconds_left: float | None


class RayEngine:
    """Does what is left of a plan with the workers of a cluster; one that dies is started again where there is room."""

    def __init__(self, plan: Plan, place: str, cluster: Cluster, model: str | None) -> None:
        self._plan = plan
        self._store = store_at(place)
        self._place = place if "://" in place else str(Path(place).resolve())
        self._cluster = cluster
        self._model = model
        self._done: dict[int, Done] = {}
        self._failed: dict[int, str] = {}

    def run(self, show: Callable[[Share], None] = lambda _: None) -> dict[int, str]:
        """Do all shards; those that could not be done, and why."""
        known = Markers(self._store, self._plan).all(Done)
        left = [number for number in range(len(self._plan.shards)) if number not in known]
        if not left:
            return {}
        pool = RayPool[int](
            partial(_begin, self._place, self._model),
            self._cluster,
            _PATIENCE,
            on_gpus=self._plan.options.device == "cuda",
            processors=self._plan.options.threads,
            folder=self._plan.folder,  # from where the inputs have their names
        )
        with pool:
            begun = monotonic()
            for happened in pool.do(left):
                match happened:
                    case Returned(task, done):
                        self._done[left[task]] = done
                    case GivenUp(task, error):
                        self._failed[left[task]] = str(error).partition("\n")[0]
                show(self._share(known, monotonic() - begun))
        return self._failed

    def _share(self, known: Collection[int], seconds: float) -> Share:
        sizes = [shard.bytes for shard in self._plan.shards]
        sentences = sum(done.sentences for done in self._done.values())
        done = sum(sizes[number] for number in self._done)
        left = sum(sizes) - sum(sizes[number] for number in {*known, *self._done, *self._failed})
        seconds_left = seconds * left / done if done else None
        return Share(len(known) + len(self._done), len(sizes), sentences, sentences / max(seconds, 1e-9), seconds_left)


def _begin(place: str, model: str | None) -> Work[int]:
    """A worker of the plan, in a process of Ray."""
    store = store_at(place)
    worker = Worker(read_plan(store), store, model=model)

    def do(number: int, _: Tell) -> Done:
        return worker.do(number)

    return do
