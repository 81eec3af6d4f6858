"""A bounded queue in front of a few threads: what many clients wait for goes through the network together."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from zerotag.types import Sentence

Work = Callable[[str, Sequence[Sentence]], list[str]]
"""What a thread does: a method's name and sentences become one JSON record per sentence."""


class FullError(Exception):
    """No more may wait; there will be room in about `seconds`."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"full for {seconds} s")
        self.seconds = seconds


class ClosedError(Exception):
    """Nothing is accepted any more."""


class Job:
    """The sentences of one request, on their way to becoming records."""

    def __init__(self, method: str, sentences: Sequence[Sentence], costs: Sequence[int]) -> None:
        self.method = method
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


class Lane:
    """Jobs in turn. One that is too large for a round goes to the end of the queue with what is left of it."""

    def __init__(
        self,
        name: str,
        work: Work,
        cost: Callable[[Sentence], int],
        *,
        capacity: int,
        round_cost: int,
        workers: int = 1,
        prepare_thread: Callable[[], None] = lambda: None,
    ) -> None:
        self.on_round: Callable[[int], None] = lambda _: None  # told how many sentences went through together
        self._work = work
        self._cost = cost
        self._capacity = capacity
        self._round_cost = round_cost
        self._waiting: deque[Job] = deque()
        self._wake = asyncio.Event()
        self._closing = False
        self._workers = workers
        self._cost_per_second = math.inf  # of one worker
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=name, initializer=prepare_thread)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def waiting(self) -> int:
        """The cost of all that waits."""
        return sum(job.left for job in self._waiting)

    def start(self) -> None:
        """Begin to work; needs a running event loop."""
        self._tasks = [asyncio.get_running_loop().create_task(self._run()) for _ in range(self._workers)]

    async def close(self) -> None:
        """Finish what was accepted, and end."""
        self._closing = True
        self._wake.set()
        await asyncio.gather(*self._tasks)
        self._threads.shutdown()

    def submit(self, method: str, sentences: Sequence[Sentence]) -> Job:
        """Accept a job, or raise FullError or ClosedError."""
        if self._closing:
            raise ClosedError
        job = Job(method, sentences, [*map(self._cost, sentences)])
        if not sentences:
            job.add(0, [])
            return job
        # As all take turns, it waits for as much of each as it has itself. Where nothing waits, any job will do.
        before_it = sum(min(other.left, job.left) for other in self._waiting)
        if before_it and before_it + job.left > self._capacity:
            raise FullError(min(60, math.ceil(before_it / self._cost_per_second / self._workers) or 1))
        self._waiting.append(job)
        self._wake.set()
        return job

    def withdraw(self, job: Job) -> None:
        """Forget a job that nobody waits for any more."""
        job.answer.cancel()
        with suppress(ValueError):  # it may be done, or under way
            self._waiting.remove(job)

    async def _run(self) -> None:
        while True:
            if slices := self._take():
                await self._round(slices)
            elif self._closing:
                return
            else:
                self._wake.clear()
                await self._wake.wait()

    async def _round(self, slices: Sequence[Slice]) -> None:
        loop = asyncio.get_running_loop()
        start = time.monotonic()
        await loop.run_in_executor(self._threads, self._answer, slices, loop)
        self._cost_per_second = sum(one.cost for one in slices) / (time.monotonic() - start)

    def _take(self) -> list[Slice]:
        slices: list[Slice] = []
        room = self._round_cost
        while self._waiting and room > 0:
            job = self._waiting[0]
            if slices and job.method != slices[0].job.method:
                break
            self._waiting.popleft()
            if job.answer.done():  # an earlier slice of it failed
                continue
            slices.append(job.take(room))
            room -= slices[-1].cost
            if not job.is_taken:
                self._waiting.append(job)
        return slices

    def _answer(self, slices: Sequence[Slice], loop: asyncio.AbstractEventLoop) -> None:
        """In a thread: all together or, if that fails, each for itself, so that one cannot spoil the others."""
        sentences = [sentence for one in slices for sentence in one.sentences]
        try:
            records = iter(self._work(slices[0].job.method, sentences))
        except Exception as error:
            if len(slices) > 1:
                for one in slices:
                    self._answer([one], loop)
                return
            loop.call_soon_threadsafe(slices[0].job.fail, error)
            return
        loop.call_soon_threadsafe(self.on_round, len(sentences))  # first: who has an answer finds it counted
        for one in slices:
            loop.call_soon_threadsafe(one.job.add, one.start, [next(records) for _ in one.sentences])
