"""One process at a time."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from zerotag.errors import ZerotagError
from zerotag.io.locks import only_us

spawn = multiprocessing.get_context("spawn")


def test_a_second_one_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    place = tmp_path / "out"
    refused = pytest.raises(ZerotagError, match=rf"^{place}: another run is writing it; wait")
    with only_us(place), refused, only_us(place):
        pytest.fail("both write")
    with only_us(place):
        pass
    assert list(tmp_path.iterdir()) == []


def _take(place: Path) -> None:
    with only_us(place):
        pass


def test_so_is_another_process(tmp_path: Path) -> None:
    other = spawn.Process(target=_take, args=(tmp_path / "out",))
    with only_us(tmp_path / "out"):
        other.start()
        other.join()
    assert other.exitcode == 1


def _keep(place: Path, told: Connection) -> None:
    with only_us(place):
        told.send("mine")
        signal.pause()


def test_a_kill_releases_it(tmp_path: Path) -> None:
    ours, theirs = spawn.Pipe()
    other = spawn.Process(target=_keep, args=(tmp_path / "out", theirs))
    other.start()
    assert ours.recv() == "mine"
    with pytest.raises(ZerotagError, match="another run is writing it"), only_us(tmp_path / "out"):
        pytest.fail("both write")
    other.kill()
    other.join()
    with only_us(tmp_path / "out"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("answer", [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK])
def test_a_file_system_without_locks_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: int
) -> None:
    def flock(*_: object) -> None:
        raise OSError(answer, os.strerror(answer))

    monkeypatch.setattr("fcntl.flock", flock)
    with only_us(tmp_path / "out"):
        pass
    assert list(tmp_path.iterdir()) == []
