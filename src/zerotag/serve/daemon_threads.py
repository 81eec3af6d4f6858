"""Threads that cannot hold up the end of the process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_Call = Callable[[], None]


class DaemonExecutor(Executor):
    """A fixed number of daemon threads.

    The interpreter waits at its end for the threads of a `ThreadPoolExecutor`: one call that never returns would keep
    a service alive for ever.
    """

    def __init__(self, workers: int, name: str, prepare_thread: Callable[[], None] = lambda: None) -> None:
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._prepare_thread = prepare_thread
        self._working: set[int] = set()  # threads by number
        self._threads = [threading.Thread(target=self._run, name=f"{name}-{i}", daemon=True) for i in range(workers)]
        for thread in self._threads:
            thread.start()

    @property
    def is_idle(self) -> bool:
        """Whether no thread is inside a call."""
        return not self._working

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a thread call a function."""
        future: Future[T] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        self._calls.put(call)
        return future

    def shutdown(self, wait: bool = False, **_: Any) -> None:
        """Let each thread end after the calls it has."""
        for _thread in self._threads:
            self._calls.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _run(self) -> None:
        self._prepare_thread()
        while (call := self._calls.get()) is not None:
            self._working.add(threading.get_ident())
            call()
            self._working.discard(threading.get_ident())
