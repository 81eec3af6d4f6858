"""One process at a time."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from zerotag.errors import ZerotagError
from zerotag.io.locks import only_us


def test_a_second_one_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    refused = pytest.raises(ZerotagError, match=rf"^{tmp_path}: another run is writing it; wait")
    with only_us(tmp_path), refused, only_us(tmp_path):
        pytest.fail("both write")
    with only_us(tmp_path):
        pass


def _take(folder: Path) -> None:
    with only_us(folder):
        pass


def test_so_is_another_process(tmp_path: Path) -> None:
    other = multiprocessing.get_context("spawn").Process(target=_take, args=(tmp_path,))
    with only_us(tmp_path):
        other.start()
        other.join()
    assert other.exitcode == 1
