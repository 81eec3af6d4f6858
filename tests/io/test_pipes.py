"""Lines out of a pipe, and whether the next one is there."""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterator
from time import monotonic

import pytest

from zerotag.io import pipes
from zerotag.io.pipes import Arriving

MOST = 1_000_000


class Pipe:
    """Both ends of a pipe."""

    def __init__(self) -> None:
        reading, self._writing = os.pipe()
        self.reading = os.fdopen(reading, "rb")
        self.lines = Arriving(self.reading, patience=0.02)

    def write(self, content: bytes) -> None:
        os.write(self._writing, content)

    def end(self) -> None:
        os.close(self._writing)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.reading.close()


def test_a_line_is_late_until_all_of_it_is_there(pipe: Pipe) -> None:
    assert pipe.lines.is_late()
    pipe.write(b"one\ntw")
    assert not pipe.lines.is_late()
    assert pipe.lines.readline(MOST) == b"one\n"
    assert pipe.lines.is_late()
    pipe.write(b"o\n\nthree")
    assert not pipe.lines.is_late()
    assert [pipe.lines.readline(MOST) for _ in range(2)] == [b"two\n", b"\n"]
    assert pipe.lines.is_late()
    pipe.end()
    assert not pipe.lines.is_late()  # nobody waits for the end
    assert [pipe.lines.readline(MOST) for _ in range(3)] == [b"three", b"", b""]


def test_short_waits_add_up(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a line that comes now and then would keep all others from being used."""
    lines = Arriving(pipe.reading, patience=90.0)
    clock = itertools.count(step=30.0)
    monkeypatch.setattr(pipes, "monotonic", lambda: next(clock))
    for number in range(3):
        pipe.write(b"%d\n" % number)
        assert not lines.is_late()
        lines.readline(MOST)
    begun = monotonic()
    assert lines.is_late()
    assert monotonic() - begun < 60


def test_lines_that_are_too_long_come_in_parts(pipe: Pipe) -> None:
    pipe.write(b"x" * 25)
    assert [pipe.lines.readline(10) for _ in range(2)] == [b"x" * 10] * 2
    pipe.write(b"\ny\n")
    assert [pipe.lines.readline(10) for _ in range(2)] == [b"x" * 5 + b"\n", b"y\n"]


@pytest.mark.parametrize("content", [b"", b"\n", b"one", b"one\n", b"\r\none\r\n\ntwo"])
def test_the_lines_are_those_of_a_file(content: bytes) -> None:
    lines = Arriving(io.BytesIO(content))
    assert not lines.is_late()
    assert [*iter(lambda: lines.readline(MOST), b"")] == io.BytesIO(content).readlines()
