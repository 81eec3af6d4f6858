from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from zerotag.parallel.threads import computing_with, threads_of_torch

FOUND = """
import sys
from zerotag.parallel.threads import threads_of_torch
print(threads_of_torch(), "torch" in sys.modules)
import torch
print(torch.get_num_threads())
"""


@pytest.mark.parametrize("asked", ["1", "3", ""])
def test_threads_are_torchs_own_and_it_is_not_loaded_for_nothing(asked: str) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": asked}
    done = subprocess.run([sys.executable, "-c", FOUND], env=environment, capture_output=True, text=True, check=True)
    found, loaded, torchs = done.stdout.split()
    assert found == torchs
    assert loaded == str(asked != "1")


def test_a_number_of_threads_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS")
    before = torch.get_num_threads()
    with computing_with(before + 1):
        assert threads_of_torch() == torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
