"""A bounded queue in front of a few threads: what many clients wait for goes through the network in one batch."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

from zerotag.inference.cancellation import CancelToken, WorkCancelledError, cancellable
from zerotag.serve.daemon_threads import DaemonExecutor
from zerotag.types import Sentence

Work = Callable[[Any, Sequence[Sentence]], list[str]]
"""What a thread does: a task and sentences become one JSON record per sentence.

A task says how, such as a method's name; sentences of equal tasks may go through the network together.
"""


class QueueFullError(Exception):
    """No more may wait; there will be room in about `seconds`."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"full for {seconds} s")
        self.seconds = seconds


class QueueClosedError(Exception):
    """Nothing is accepted any more, or what was accepted could not be finished in time."""


class Job:
    """The sentences of one request, on their way to becoming records."""

    def __init__(self, task: object, sentences: Sequence[Sentence], costs: Sequence[int]) -> None:
        self.task = task
        self.answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self.left = sum(costs)  # of its cost, not yet taken
        self._sentences = sentences
        self._costs = costs
        self._taken = 0
        self._records = [""] * len(sentences)
        self._missing = len(sentences)

    @property
    def is_taken(self) -> bool:
        """Whether nothing of it waits any more."""
        return self._taken == len(self._sentences)

    def take(self, most: int) -> Slice:
        """Its next sentences, up to a cost, but one at least."""
        start, cost = self._taken, self._costs[self._taken]
        self._taken += 1
        while not self.is_taken and cost + self._costs[self._taken] <= most:
            cost += self._costs[self._taken]
            self._taken += 1
        self.left -= cost
        return Slice(self, start, self._sentences[start : self._taken], cost)

    def add(self, start: int, records: Sequence[str]) -> None:
        """What became of a slice that starts there; with the last one comes the answer."""
        self._records[start : start + len(records)] = records
        self._missing -= len(records)
        if not self._missing and not self.answer.done():
            self.answer.set_result(self._records)

    def fail(self, error: Exception) -> None:
        """Answer with an error, unless nobody waits any more."""
        if not self.answer.done():
            self.answer.set_exception(error)


class Slice(NamedTuple):
    """Some of a job's sentences, and their cost."""

    job: Job
    start: int
    sentences: Sequence[Sentence]
    cost: int


class Batch:
    """Slices that a thread works on together; cancelled once nobody waits for any of them."""

    def __init__(self, slices: Sequence[Slice]) -> None:
        self.slices = slices
        self.cancel = CancelToken()
        self.cancelled_at = math.inf

    def cancel_if_unwanted(self) -> None:
        """End the work if every job in it has been answered or given up."""
        if not self.cancel.is_cancelled and all(one.job.answer.done() for one in self.slices):
            self.cancelled_at = time.monotonic()
            self.cancel.cancel()


@dataclass(eq=False)
class BatchQueue:
    """Jobs in turn. One that is too large for a batch goes to the end of the queue with what is left of it."""

    name: str
    work: Work
    cost: Callable[[Sentence], int]
    _: KW_ONLY
    capacity: int
    batch_cost: int
    workers: int = 1
    prepare_thread: Callable[[], None] = lambda: None
    on_batch: Callable[[int], None] = lambda _: None
    """Told how many sentences went through together."""

    def __post_init__(self) -> None:
        self._waiting: deque[Job] = deque()
        self._running: set[Batch] = set()
        self._wake = asyncio.Event()
        self._closing = False
        self._cost_per_second = math.inf  # of one worker
        self._threads: DaemonExecutor | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def waiting(self) -> int:
        """The cost of all that waits."""
        return sum(job.left for job in self._waiting)

    @property
    def seconds_waiting(self) -> float:
        """For how long all that waits will keep the threads busy, by their pace."""
        return self.waiting / self._cost_per_second / self.workers

    @property
    def is_idle(self) -> bool:
        """Whether no thread is at work, also for a batch that nobody waits for."""
        return self._threads is None or self._threads.is_idle

    @property
    def seconds_past_cancellation(self) -> float:
        """For how long a batch has been going on after it was cancelled, at most; work that checks ends at once."""
        return max(0.0, time.monotonic() - min((batch.cancelled_at for batch in self._running), default=math.inf))

    def start(self) -> None:
        """Begin to work; needs a running event loop."""
        self._threads = DaemonExecutor(self.workers, self.name, self.prepare_thread)
        self._tasks = [asyncio.get_running_loop().create_task(self._run()) for _ in range(self.workers)]

    async def close(self) -> None:
        """Finish what was accepted, and end."""
        self._closing = True
        self._wake.set()
        await asyncio.gather(*self._tasks)
        if self._threads is not None:
            self._threads.shutdown()

    def abort(self) -> int:
        """Accept nothing more, and fail and cancel all that is accepted; tells how many jobs that were."""
        self._closing = True
        jobs = {*self._waiting, *(one.job for batch in self._running for one in batch.slices)}
        unfinished = [job for job in jobs if not job.answer.done()]
        for job in unfinished:
            job.fail(QueueClosedError())
        self._waiting.clear()
        self._cancel_unwanted()
        return len(unfinished)

    def submit(self, task: object, sentences: Sequence[Sentence]) -> Job:
        """Accept a job, or raise QueueFullError or QueueClosedError."""
        if self._closing:
            raise QueueClosedError
        job = Job(task, sentences, [*map(self.cost, sentences)])
        if not sentences:
            job.add(0, [])
            return job
        # As all take turns, it waits for as much of each as it has itself. Where nothing waits, any job will do.
        before_it = sum(min(other.left, job.left) for other in self._waiting)
        if before_it and before_it + job.left > self.capacity:
            raise QueueFullError(min(60, math.ceil(before_it / self._cost_per_second / self.workers) or 1))
        self._waiting.append(job)
        self._wake.set()
        return job

    def withdraw(self, job: Job) -> None:
        """Give up a job that nobody waits for any more, whether it waits or is being worked on."""
        job.answer.cancel()
        with suppress(ValueError):  # it may be done, or under way
            self._waiting.remove(job)
        self._cancel_unwanted()

    def _cancel_unwanted(self) -> None:
        for batch in self._running:
            batch.cancel_if_unwanted()

    async def _run(self) -> None:
        while True:
            if slices := self._take():
                await self._process(Batch(slices))
            elif self._closing:
                return
            else:
                self._wake.clear()
                await self._wake.wait()

    async def _process(self, batch: Batch) -> None:
        loop = asyncio.get_running_loop()
        start = time.monotonic()
        self._running.add(batch)
        try:
            await loop.run_in_executor(self._threads, self._answer, batch.slices, batch.cancel, loop)
        finally:
            self._running.discard(batch)
        if not batch.cancel.is_cancelled:
            self._cost_per_second = sum(one.cost for one in batch.slices) / (time.monotonic() - start)

    def _take(self) -> list[Slice]:
        slices: list[Slice] = []
        room = self.batch_cost
        while self._waiting and room > 0:
            job = self._waiting[0]
            if slices and job.task != slices[0].job.task:
                break
            self._waiting.popleft()
            if job.answer.done():  # an earlier slice of it failed
                continue
            slices.append(job.take(room))
            room -= slices[-1].cost
            if not job.is_taken:
                self._waiting.append(job)
        return slices

    def _answer(self, slices: Sequence[Slice], cancel: CancelToken, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread: all together or, if that fails, each for itself, so that one cannot spoil the others."""
        sentences = [sentence for one in slices for sentence in one.sentences]
        try:
            with cancellable(cancel):
                records = iter(self.work(slices[0].job.task, sentences))
        except WorkCancelledError:
            return
        except Exception as error:
            if len(slices) > 1:
                for one in slices:
                    self._answer([one], cancel, loop)
                return
            loop.call_soon_threadsafe(slices[0].job.fail, error)
            return
        loop.call_soon_threadsafe(self.on_batch, len(sentences))  # first: who has an answer finds it counted
        for one in slices:
            loop.call_soon_threadsafe(one.job.add, one.start, [next(records) for _ in one.sentences])
