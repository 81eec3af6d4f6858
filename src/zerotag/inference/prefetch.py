"""Work that a thread does ahead of whoever uses its results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def prefetched(work: Callable[[A], B], items: Iterable[A], most: int) -> Generator[B]:
    """What comes of each item, in their order; up to `most` more of them are taken while one is used.

    Items are taken in the thread of whoever asks for results. Close this to have the other thread end.
    """
    thread = ThreadPoolExecutor(1)
    waiting: deque[Future[B]] = deque()
    try:
        for item in items:
            waiting.append(thread.submit(work, item))
            if len(waiting) > most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        thread.shutdown(cancel_futures=True)
