"""What a worker process does before its first run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from zerotag.compare.experiment import read_experiment
from zerotag.compare.workbench import Workbench

SMOKE = Path(__file__).parents[2] / "experiments" / "smoke.toml"
SHARE = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"


@pytest.mark.parametrize(("workers", "share"), [(15, "20"), (6, "50"), (3, "100"), (1, "100")])
def test_a_gpu_is_shared(workers: int, share: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARE, "")  # so that it is restored
    monkeypatch.delenv(SHARE)
    Workbench(read_experiment(SMOKE), None, Path("results"), workers).prepare()
    assert os.environ[SHARE] == share


def test_what_the_user_has_decided_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARE, "7")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    threads = torch.get_num_threads()
    Workbench(read_experiment(SMOKE), None, Path("results"), 64).prepare()
    assert os.environ[SHARE] == "7"
    assert torch.get_num_threads() == threads
