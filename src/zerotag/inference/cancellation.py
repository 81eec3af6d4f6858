"""Cancellation of a computation that nobody waits for any more.

Whoever starts the work runs it `with cancellable(token)`; whatever runs the network calls `check_cancelled()` before
each batch. The token is found through the context, so that a scorer, also one of another package, need not hand it on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event


class WorkCancelledError(Exception):
    """The work was cancelled before it was done."""


class CancelToken:
    """Says to one piece of work, from any thread, that its result is no longer wanted."""

    def __init__(self) -> None:
        self._cancelled = Event()

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Have the work end at its next check."""
        self._cancelled.set()


_token: ContextVar[CancelToken | None] = ContextVar("cancel_token", default=None)


@contextmanager
def cancellable(token: CancelToken) -> Iterator[None]:
    """Have the work inside end with WorkCancelledError when the token is cancelled."""
    before = _token.set(token)
    try:
        yield
    finally:
        _token.reset(before)


def check_cancelled() -> None:
    """Raise WorkCancelledError if the work that this is part of was cancelled."""
    token = _token.get()
    if token is not None and token.is_cancelled:
        raise WorkCancelledError
