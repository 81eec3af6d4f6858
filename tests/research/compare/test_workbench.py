"""What a worker process does before its first run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from zerotag.research.compare.experiment_file import read_experiment
from zerotag.research.compare.workbench import Workbench

SMOKE = Path(__file__).parents[3] / "experiments" / "smoke.toml"


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize(("workers", "threads"), [(1, 8), (3, 2), (64, 1)])
def test_the_cores_are_shared(workers: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    Workbench(read_experiment(SMOKE), None, {}, Path("results"), workers).prepare()
    assert torch.get_num_threads() == threads


def test_what_the_user_has_decided_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    torch.set_num_threads(3)
    Workbench(read_experiment(SMOKE), None, {}, Path("results"), 64).prepare()
    assert torch.get_num_threads() == 3
