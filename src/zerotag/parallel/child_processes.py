"""Processes that another one of ours starts."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def ignoring_interrupts() -> Iterator[None]:
    """A context whose new processes never hear it, from their first moment: it is for us, who tell them to stop."""
    if os.name != "posix":
        yield
        return
    resource_tracker.ensure_running()  # which would let it through again once it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
