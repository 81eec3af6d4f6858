"""The shards of a plan, handed out by Ray to whoever is free.

Ray Core, not Ray Data: a shard is a file in the end, which somebody writes from its first byte to its last. Ray Data
hands out blocks of rows, several at a time and in any order; which file a row is in, and whether it is in one already,
would need an id for each row. Here the markers of the shards say what is done, with Ray or without.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from zerotag.bulk.markers import Done, Markers
from zerotag.bulk.plan import Plan, read_plan
from zerotag.bulk.shards import Worker
from zerotag.errors import ZerotagError
from zerotag.io.locks import BusyError
from zerotag.io.stores import store_at

_DEATHS = (
    20  # of workers over one shard, until it is given up: a node may fail, a shard that fills the memory always does
)
_ATTEMPTS = 3
_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where Ray is, and what a worker gets of it."""

    address: str | None = None
    """None: a cluster of this machine alone, for as long as it takes."""
    workers: int | None = None
    """None: as many as there is room for."""
    gpus: float = 1.0
    """Of a GPU for each worker, if the plan is for GPUs."""


@dataclass(frozen=True, slots=True)
class Share:
    """How far a plan is, by what this engine has done."""

    shards_done: int
    shards: int
    sentences: int
    rate: float
    """Sentences per second."""
    seconds_left: float | None


class _Actor:
    """A worker in a process of Ray."""

    def __init__(self, place: str, folder: str, model: str | None) -> None:
        if Path(folder).is_dir():
            os.chdir(folder)  # from where the inputs have their names
        store = store_at(place)
        self._worker = Worker(read_plan(store), store, model=model)

    def ready(self) -> None:
        """Answer."""

    def do(self, number: int) -> Done:
        """Do a shard."""
        return self._worker.do(number)


class RayEngine:
    """Does what is left of a plan with the actors of a cluster; one that dies is started again where there is room."""

    def __init__(self, plan: Plan, place: str, cluster: Cluster, model: str | None) -> None:
        self._plan = plan
        self._store = store_at(place)
        self._place = place if "://" in place else str(Path(place).resolve())
        self._cluster = cluster
        self._model = model
        self._left = deque[int]()
        self._tasks: dict[Any, tuple[Any, int | None]] = {}  # a shard of an actor, or none: is it there?
        self._deaths = Counter[int]()
        self._errors = Counter[int]()
        self._failed: dict[int, str] = {}
        self._done: dict[int, Done] = {}

    def run(self, show: Callable[[Share], None] = lambda _: None) -> dict[int, str]:
        """Do all shards; those that could not be done, and why."""
        ray = _ray()
        markers = Markers(self._store, self._plan)
        known = markers.all(Done)
        self._left.extend(number for number in range(len(self._plan.shards)) if number not in known)
        if not self._left:
            return {}
        ray.init(address=self._cluster.address or "local", log_to_driver=False, logging_level="ERROR")
        begun = monotonic()
        try:
            for _ in range(min(len(self._left), self._room(ray))):
                self._ask_whether_there(self._new_actor(ray))
            while self._left or any(number is not None for _, number in self._tasks.values()):
                finished, _ = ray.wait([*self._tasks], timeout=_SECONDS)
                for task in finished:
                    self._take(ray, task)
                show(self._share(len(known), monotonic() - begun))
        finally:
            ray.shutdown()
        return self._failed

    def _room(self, ray: Any) -> int:
        resources = ray.cluster_resources()
        on_gpus = self._plan.options.device == "cuda"
        room = int(resources.get("GPU", 0) / self._cluster.gpus) if on_gpus else int(resources.get("CPU", 0))
        if not room and not self._cluster.workers:
            raise ZerotagError(
                f"the plan is for {self._plan.options.device}, and Ray's cluster has {resources.get('GPU', 0):g} GPUs "
                f"and {resources.get('CPU', 0):g} processors: there is no room for a worker"
            )
        return self._cluster.workers or room

    def _new_actor(self, ray: Any) -> Any:
        gpus = self._cluster.gpus if self._plan.options.device == "cuda" else 0
        kind = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=-1, max_task_retries=0)(_Actor)
        return kind.remote(self._place, self._plan.folder, self._model)

    def _ask_whether_there(self, actor: Any) -> None:
        self._tasks[actor.ready.remote()] = actor, None

    def _take(self, ray: Any, task: Any) -> None:
        """See what became of a task, and give its actor another one."""
        actor, number = self._tasks.pop(task)
        try:
            answer = ray.get(task)
        except ray.exceptions.RayActorError as error:  # it died; Ray starts it again
            self._ask_whether_there(actor)
            if number is not None:
                self._deaths[number] += 1
                self._again(number, self._deaths[number] < _DEATHS, f"its worker died: {error}")
            return
        except ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            if number is None:
                raise ZerotagError(f"a worker could not be started: {cause}") from None
            self._errors[number] += not isinstance(cause, BusyError)
            self._again(number, self._errors[number] < _ATTEMPTS, str(cause))
        else:
            if number is not None:
                self._done[number] = answer
        if self._left:
            number = self._left.popleft()
            self._tasks[actor.do.remote(number)] = actor, number

    def _again(self, number: int, worth_it: bool, reason: str) -> None:
        if worth_it:
            self._left.append(number)
        else:
            self._failed[number] = reason.partition("\n")[0]

    def _share(self, known: int, seconds: float) -> Share:
        sentences = sum(done.sentences for done in self._done.values())
        sizes = [shard.bytes for shard in self._plan.shards]
        done = sum(sizes[number] for number in self._done)
        busy = [number for _, number in self._tasks.values() if number is not None]
        left = sum(sizes[number] for number in (*self._left, *busy))
        seconds_left = seconds * left / done if done else None
        return Share(known + len(self._done), len(sizes), sentences, sentences / max(seconds, 1e-9), seconds_left)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ZerotagError("--engine ray needs Ray: pip install 'zerotag[ray]'") from None
    return ray
