"""Messages between processes, whose arrays and long byte strings are copied as seldom as can be.

A pickle that holds megabytes is copied five times on its way, and the process that has the GPU has no time for that. So
what is long travels beside the pickle (its protocol 5 calls that out of band), from the memory of one process into that
of the other.
"""

from __future__ import annotations

import os
import pickle
from multiprocessing.connection import Connection
from typing import Any

_LONG = 4096  # bytes; what is shorter is not worth a call of its own


def send(connection: Connection, message: object) -> None:
    """Send something that can be pickled."""
    beside: list[memoryview] = []
    letter = pickle.dumps(_with_long_ones_apart(message), protocol=5, buffer_callback=lambda b: beside.append(b.raw()))
    connection.send((letter, [len(one) for one in beside]))
    for one in beside:
        while one:
            one = one[os.write(connection.fileno(), one) :]


def receive(connection: Connection) -> Any:
    """What was sent; its long byte strings are views of memory now."""
    letter, lengths = connection.recv()
    return pickle.loads(letter, buffers=[_read(connection.fileno(), length) for length in lengths])


def _with_long_ones_apart(message: object) -> object:
    """The same tuples, with marks on their byte strings: arrays are taken out by themselves."""
    if isinstance(message, bytes | memoryview) and len(message) >= _LONG:
        return pickle.PickleBuffer(message)
    if isinstance(message, tuple):
        parts = map(_with_long_ones_apart, message)
        return message._make(parts) if hasattr(message, "_make") else tuple(parts)
    return message


def _read(file: int, length: int) -> bytearray:
    read = bytearray(length)
    left = memoryview(read)
    while left:
        count = os.readv(file, [left])
        if not count:
            raise EOFError
        left = left[count:]
    return read
