"""Work that is done ahead of whoever uses its results, by a thread or a device."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def prefetched(work: Callable[[A], B], items: Iterable[A], most: int) -> Generator[B]:
    """What comes of each item, in their order; up to `most` more of them are taken while one is used.

    Items are taken in the thread of whoever asks for results. Close this to have the other thread end.
    """
    thread = ThreadPoolExecutor(1)
    try:
        yield from pipelined(lambda item: thread.submit(work, item).result, items, most)
    finally:
        thread.shutdown(cancel_futures=True)


def pipelined(start: Callable[[A], Callable[[], B]], items: Iterable[A], most: int) -> Iterator[B]:
    """What comes of each item, in their order, where work on it is started, and its result waited for, apart.

    Args:
        start: starts work on an item, and gives what waits for the result.
        items: what is to be worked on.
        most: items on which work is started before the result of an earlier one is waited for.
    """
    waiting: deque[Callable[[], B]] = deque()
    for item in items:
        waiting.append(start(item))
        if len(waiting) > most:
            yield waiting.popleft()()
    while waiting:
        yield waiting.popleft()()
