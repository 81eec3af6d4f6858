"""Tasks handed out by Ray to a pool of workers: to whoever is free, and again elsewhere if a worker dies."""

from __future__ import annotations

import os
import socket
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeVar

from zerotag.errors import ZerotagError
from zerotag.extras import needed
from zerotag.parallel.stopping import Stopped

Task = TypeVar("Task")

_SECONDS = 1.0  # until workers are asked for messages again
_SECONDS_TO_CONNECT = 10.0

Tell = Callable[[Any], None]
"""Passes a message on to whoever hands out the tasks; raises `Stopped` once the work is to be left where it is."""

Work = Callable[[Task, Tell], Any]
"""Does a task, in a worker."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where Ray is, and what a worker gets of it."""

    address: str | None = None
    """None: a cluster of this machine alone, for as long as it takes."""
    workers: int | None = None
    """None: as many as there is room for."""
    gpus: float = 1.0
    """Of a GPU for each worker, if the work is for GPUs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a task is given another chance, and a worker time to stop."""

    deaths: int
    """Of workers, until the task at hand is given up: a node may fail, a task that fills the memory always does."""
    errors: int = 1
    not_counted: tuple[type[Exception], ...] = ()
    """Errors that another attempt is sure to overcome."""
    seconds_to_stop: float = 0.0
    """Until a worker is ended that was asked to leave its work where it is."""


class Told(NamedTuple):
    """A message of the worker that has a task."""

    number: int
    message: Any


class Returned(NamedTuple):
    """What a task gave."""

    number: int
    result: Any


class GivenUp(NamedTuple):
    """A task that failed too often, and its last error."""

    number: int
    error: Exception


class DeathError(Exception):
    """A worker died over its task."""


class _Actor:
    """A worker in a process of Ray: it works in one thread and answers in another."""

    def __init__(self, folder: str) -> None:
        self._messages = deque[Any]()
        self._stop = Event()
        if Path(folder).is_dir():
            os.chdir(folder)

    def ready(self, begin: Callable[[], Work[Any]]) -> None:
        """Get ready for work: an actor that has died and was started again, too."""
        self._work = begin()

    def do(self, task: Any) -> tuple[Any, list[Any]]:
        """Do a task; what it gave, and the messages that nobody has asked for yet."""
        try:
            result = self._work(task, self._tell)
        except Stopped:
            result = None
        return result, self.messages()

    def messages(self) -> list[Any]:
        """Those since the last time."""
        return [self._messages.popleft() for _ in range(len(self._messages))]

    def stop(self) -> None:
        """Leave the task where it is."""
        self._stop.set()

    def _tell(self, message: Any) -> None:
        if self._stop.is_set():
            raise Stopped
        self._messages.append(message)


class RayPool(Generic[Task]):
    """A context with the workers of a cluster, which begin when there is something to do.

    Args:
        begin: called once in each worker, there; what it returns does the tasks.
        cluster: where Ray is.
        patience: when a task is given up.
        on_gpus: whether a worker needs a GPU; None: if the cluster has any.
        processors: how many a worker without a GPU gets.
        folder: in which workers work, if it is there: relative names are to mean the same.
    """

    def __init__(
        self,
        begin: Callable[[], Work[Task]],
        cluster: Cluster,
        patience: Patience,
        *,
        on_gpus: bool | None,
        processors: int = 1,
        folder: str | None = None,
    ) -> None:
        self._begin = begin
        self._cluster = cluster
        self._patience = patience
        self._on_gpus = on_gpus
        self._processors = processors
        self._folder = folder or str(Path.cwd())
        self._ray = needed("--engine ray", "ray", "ray")
        self._asked: dict[Any, tuple[Any, int | None]] = {}  # of an actor: a task, or none: is it there?
        self._polls: dict[Any, tuple[Any, int]] = {}  # of an actor with a task: are there messages?
        self._absent: list[Any] = []  # actors that died and will be asked for again: at once they would say the same
        self._left = deque[int]()
        self._deaths = Counter[int]()
        self._errors = Counter[int]()

    def __enter__(self) -> Self:
        address = self._cluster.address or "local"
        _check_that_somebody_listens(address)
        try:
            self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except ConnectionError as error:
            raise ZerotagError(
                f"--address {address}: there is no Ray, or it wants a token (RAY_AUTH_MODE=token): {_first_line(error)}"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        busy = [task for task, (_, number) in self._asked.items() if number is not None]
        if busy and self._patience.seconds_to_stop:
            for task in busy:
                self._asked[task][0].stop.remote()
            self._ray.wait(busy, num_returns=len(busy), timeout=self._patience.seconds_to_stop)
        self._ray.shutdown()

    def do(self, tasks: Sequence[Task]) -> Iterator[Told | Returned | GivenUp | None]:
        """Whatever happens until all tasks are done or given up; None, if for a second nothing did."""
        self._left.extend(range(len(tasks)))
        self._shared_begin = self._ray.put(self._begin)  # once, however many workers there are
        for _ in range(min(len(tasks), self._room())):
            self._ask_whether_there(self._new_actor())
        polled = monotonic()
        while self._left or self._is_busy:
            if pending := [*self._asked, *self._polls]:
                finished, _ = self._ray.wait(pending, timeout=_SECONDS)
            else:  # all actors are absent
                finished = []
                sleep(_SECONDS)
            for one in finished:
                yield from self._messages(one) if one in self._polls else self._answer(one, tasks)
            if monotonic() - polled >= _SECONDS:
                self._poll()
                polled = monotonic()
            if not finished:
                yield None

    @property
    def _is_busy(self) -> bool:
        return bool(self._polls) or any(number is not None for _, number in self._asked.values())

    def _room(self) -> int:
        resources = self._ray.cluster_resources()
        gpus, processors = resources.get("GPU", 0), resources.get("CPU", 0)
        if self._on_gpus is None:
            self._on_gpus = bool(gpus)
        room = int(gpus / self._cluster.gpus) if self._on_gpus else int(processors / self._processors)
        if not room and not self._cluster.workers:
            raise ZerotagError(
                f"the work is for {'GPUs' if self._on_gpus else 'processors'}, and Ray's cluster has {gpus:g} GPUs and "
                f"{processors:g} processors: there is no room for a worker"
            )
        return self._cluster.workers or room

    def _new_actor(self) -> Any:
        needs = {"num_gpus": self._cluster.gpus, "num_cpus": 1} if self._on_gpus else {"num_cpus": self._processors}
        kind = self._ray.remote(max_restarts=-1, max_task_retries=0, max_concurrency=2, **needs)(_Actor)
        return kind.remote(self._folder)

    def _ask_whether_there(self, actor: Any) -> None:
        self._asked[actor.ready.remote(self._shared_begin)] = actor, None

    def _poll(self) -> None:
        for actor in self._absent:
            self._ask_whether_there(actor)
        self._absent.clear()
        polled = {actor for actor, _ in self._polls.values()}
        for actor, number in self._asked.values():
            if number is not None and actor not in polled:
                self._polls[actor.messages.remote()] = actor, number

    def _messages(self, poll: Any) -> Iterator[Told]:
        _, number = self._polls.pop(poll)
        try:
            messages = self._ray.get(poll)
        except self._ray.exceptions.RayActorError:  # its task says so as well
            return
        yield from (Told(number, message) for message in messages)

    def _answer(self, asked: Any, tasks: Sequence[Task]) -> Iterator[Told | Returned | GivenUp]:
        """See what became of what an actor was asked, and give it a task."""
        actor, number = self._asked.pop(asked)
        try:
            answer = self._ray.get(asked)
        except self._ray.exceptions.RayActorError as error:  # it died; Ray starts it again where there is room
            self._absent.append(actor)
            if number is not None:
                yield from self._died(number, error)
            return
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            if number is None:
                raise ZerotagError(f"a worker could not be started: {cause}") from None
            yield from self._failed(number, cause)
        else:
            if number is not None:
                result, messages = answer
                yield from (Told(number, message) for message in messages)
                yield Returned(number, result)
        if self._left:
            number = self._left.popleft()
            self._asked[actor.do.remote(tasks[number])] = actor, number

    def _died(self, number: int, error: Exception) -> Iterator[GivenUp]:
        self._deaths[number] += 1
        death = DeathError(f"its worker died: {_first_line(error)}")
        yield from self._again(number, self._deaths[number] < self._patience.deaths, death)

    def _failed(self, number: int, error: Exception) -> Iterator[GivenUp]:
        if isinstance(error, self._patience.not_counted) and not self._left:
            sleep(_SECONDS)  # there is nothing else to do meanwhile
        self._errors[number] += not isinstance(error, self._patience.not_counted)
        yield from self._again(number, self._errors[number] < self._patience.errors, error)

    def _again(self, number: int, worth_it: bool, error: Exception) -> Iterator[GivenUp]:
        if worth_it:
            self._left.append(number)
        else:
            yield GivenUp(number, error)


def _check_that_somebody_listens(address: str) -> None:
    """Refuse an address where nobody does: Ray would try again for ten minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        return
    try:
        socket.create_connection((host, int(port)), _SECONDS_TO_CONNECT).close()
    except (OSError, OverflowError) as error:
        raise ZerotagError(f"--address {address}: there is no Ray: {error}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
