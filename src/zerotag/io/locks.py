"""One process at a time."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from zerotag.errors import ZerotagError

_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)  # what a file system without locks answers


class BusyError(ZerotagError):
    """Another process is at it."""


@contextmanager
def only_us(place: Path) -> Iterator[bool]:
    """Refuse to write a file or folder while another process does; say whether the file system can tell.

    The lock is a file beside the place. A kill releases it, on this machine and on a network file system; what is left
    of it then is an empty file that the next run takes.
    """
    lock = FileLock(place.with_name(f".{place.name}.lock"), blocking=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise BusyError(f"{place}: another run is writing it; wait for its end, or stop it") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    try:
        yield lock.is_locked
    finally:
        # Removed while it is held: whoever opened the same file sees that it is gone, and tries a new one.
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()
