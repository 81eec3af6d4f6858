"""Many runs, several at once: worker processes that start once and take group after group, until all is done."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from zerotag.parallel.child_processes import ignoring_interrupts
from zerotag.parallel.stopping import Stopped
from zerotag.research.compare.experiment import Run
from zerotag.research.compare.messages import Bench, Failed, Finished, Group, Said, Tell

_SECONDS_BETWEEN_WORDS = 10.0  # of a worker about what it is doing
_SECONDS_TO_STOP = 20.0  # before a worker that was asked to stop is ended


@dataclass(frozen=True, slots=True)
class Idle:
    """A worker is through with its group."""


def groups_of(runs: Sequence[Run]) -> list[Group]:
    """Runs that share a training together, in the order of their first."""

    def key(run: Run) -> tuple[int, str, str | None]:
        return run.seed, run.corpus, run.method.training

    first = {key(run): number for number, run in reversed(list(enumerate(runs)))}
    together = groupby(sorted(runs, key=lambda run: first[key(run)]), key)
    return [Group(corpus, training, seed, tuple(its)) for (seed, corpus, training), its in together]


def one_after_the_other(groups: Sequence[Group], bench: Bench, tell: Tell, deadline: float | None) -> None:
    """Make all runs in this process, or those that can be made until the deadline."""
    now_and_then = NowAndThen(tell)

    def heartbeat(message: str) -> None:
        if deadline is not None and time.monotonic() > deadline:
            raise Stopped
        now_and_then.say(message)

    for group in groups:
        try:
            bench.carry_out(group, heartbeat, tell)
        except Stopped:
            return


def side_by_side(groups: Sequence[Group], bench: Bench, workers: int, tell: Tell, deadline: float | None) -> None:
    """Make all runs in worker processes; at the deadline they are stopped where they are, to go on another time."""
    waiting = deque(groups)
    with Crew(bench, workers, tell) as crew:
        while waiting or crew.busy:
            if deadline is not None and time.monotonic() > deadline:
                return
            while waiting and crew.has_room:
                crew.take(waiting.popleft())
            crew.listen(None if deadline is None else max(0.0, deadline - time.monotonic()))


class Crew:
    """Worker processes, each at the other end of a connection. To cut the connection is to ask the worker to stop."""

    def __init__(self, bench: Bench, size: int, tell: Tell) -> None:
        self._context = get_context("spawn")  # a forked process cannot use a GPU
        self._bench = bench
        self._size = size
        self._tell = tell
        self._processes: dict[Connection, SpawnProcess] = {}
        self._left: dict[Connection, list[Run]] = {}  # what each busy worker has still to do

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._processes:
            connection.close()
        patience = time.monotonic() + _SECONDS_TO_STOP
        for process in self._processes.values():
            process.join(max(0.0, patience - time.monotonic()))
            process.terminate()
            process.join()

    @property
    def busy(self) -> bool:
        """Whether some worker has a group."""
        return bool(self._left)

    @property
    def has_room(self) -> bool:
        """Whether some worker has none, or could be started."""
        return len(self._left) < self._size

    def take(self, group: Group) -> None:
        """Give a group to a worker."""
        idle = next((one for one in self._processes if one not in self._left), None) or self._start()
        try:
            idle.send(group)
        except ConnectionError:  # it died of idleness: to another
            self._ended(idle)
            self.take(group)
        else:
            self._left[idle] = list(group.runs)

    def listen(self, timeout: float | None) -> None:
        """Wait for workers to say something, and pass it on."""
        for connection in wait(list(self._processes), timeout):
            assert isinstance(connection, Connection)
            try:
                message = connection.recv()
            except (EOFError, ConnectionError):
                self._ended(connection)
                continue
            if isinstance(message, Idle):
                del self._left[connection]
                continue
            if isinstance(message, Finished | Failed):
                self._left[connection].remove(message.run)
            self._tell(message)

    def _start(self) -> Connection:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=work, args=(self._bench, theirs), daemon=True)
        with ignoring_interrupts():
            process.start()
            theirs.close()  # so that the connection ends when the worker does
            self._processes[ours] = process
        return ours

    def _ended(self, connection: Connection) -> None:
        process = self._processes.pop(connection)
        process.join()
        for run in self._left.pop(connection, ()):
            self._tell(Failed(run, f"its worker process died (exit code {process.exitcode}): start again to repeat it"))


def work(bench: Bench, connection: Connection) -> None:
    """The life of a worker: take groups until the connection is cut."""
    bench.prepare()
    sound = True

    def tell(message: Said | Finished | Failed | Idle) -> None:
        nonlocal sound
        sound = sound and not (isinstance(message, Failed) and message.unexpected)
        try:
            connection.send(message)
        except ConnectionError:
            raise Stopped from None

    def heartbeat(message: str) -> None:
        if connection.poll():  # nothing is sent to a busy worker: the connection was cut
            raise Stopped
        now_and_then.say(message)

    now_and_then = NowAndThen(tell)
    try:
        # After an unexpected failure the GPU may be out of order for this process: a new one takes its place.
        while sound:
            bench.carry_out(connection.recv(), heartbeat, tell)
            if sound:
                tell(Idle())
    except (Stopped, EOFError, ConnectionError):
        return


class NowAndThen:
    """Passes on what is said often, but not each time."""

    def __init__(self, tell: Callable[[Said], None]) -> None:
        self._tell = tell
        self._told = -_SECONDS_BETWEEN_WORDS

    def say(self, message: str) -> None:
        """Tell it, if the last time was long enough ago."""
        if time.monotonic() - self._told >= _SECONDS_BETWEEN_WORDS:
            self._told = time.monotonic()
            self._tell(Said(message))
