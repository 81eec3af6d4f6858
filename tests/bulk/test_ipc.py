"""Messages between processes."""

from __future__ import annotations

from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import pytest

from zerotag.bulk.ipc import receive, send


class Letter(NamedTuple):
    """With something long, something short, and an array."""

    long: bytes | memoryview
    short: bytes
    array: np.ndarray[Any, Any]


@pytest.fixture
def ends() -> Any:
    ours, theirs = Pipe()
    with ours, theirs:
        yield ours, theirs


def there_and_back(ends: tuple[Connection, Connection], message: object) -> Any:
    """What arrives, sent from another thread: a pipe holds less than a long message."""
    sender = Thread(target=send, args=(ends[0], message))
    sender.start()
    arrived = receive(ends[1])
    sender.join()
    return arrived


def test_what_arrives_is_what_was_sent(ends: tuple[Connection, Connection]) -> None:
    array = np.arange(1_000_000, dtype=np.int64)
    letter = Letter(bytes(range(256)) * 4_000, b"short", array)
    name, (arrived, nothing) = there_and_back(ends, ("write", (letter, None)))
    assert (name, nothing) == ("write", None)
    assert isinstance(arrived, Letter)
    assert arrived.long == letter.long
    assert (type(arrived.short), arrived.short) == (bytes, b"short")
    assert arrived.array.dtype == np.int64
    assert np.array_equal(arrived.array, array)


def test_it_can_be_sent_on(ends: tuple[Connection, Connection]) -> None:
    first = there_and_back(ends, Letter(b"x" * 100_000, b"", np.zeros((0, 2))))
    second = there_and_back(ends, first)
    assert second.long == b"x" * 100_000
    assert second.array.shape == (0, 2)


def test_many_messages_keep_apart(ends: tuple[Connection, Connection]) -> None:
    for length in (0, 1, 4_095, 4_096, 4_097, 300_000):
        assert there_and_back(ends, (b"x" * length, length)) == (b"x" * length, length)


def test_errors_travel(ends: tuple[Connection, Connection]) -> None:
    arrived = there_and_back(ends, ValueError("why"))
    assert (type(arrived), arrived.args) == (ValueError, ("why",))


def test_a_message_that_is_cut_off_ends_the_connection(ends: tuple[Connection, Connection]) -> None:
    ours, theirs = ends
    ours.send((b"", [10_000]))
    ours.close()
    with pytest.raises((EOFError, ConnectionError)):
        receive(theirs)
