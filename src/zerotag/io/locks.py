"""One process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zerotag.errors import ZerotagError


@contextmanager
def only_us(folder: Path) -> Iterator[None]:
    """Refuse to write into a folder while another process does."""
    if os.name != "posix":  # there are no such locks
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems have no locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ZerotagError(f"{folder}: another run is writing it; wait for its end, or stop it") from None
        yield
    finally:
        os.close(descriptor)
