"""Who does the work is known before anything is written."""

from __future__ import annotations

import sys

import pytest

from zerotag.cli.engine_options import EngineOptions
from zerotag.errors import ZerotagError


def test_a_missing_engine_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert EngineOptions().cluster() is None
    with pytest.raises(ZerotagError, match=r"^--engine ray needs ray: pip install 'zerotag\[ray\]'$"):
        EngineOptions(engine="ray").cluster()


@pytest.mark.parametrize("gpus", [-1.0, 0.0, 1.5])
def test_a_number_of_gpus_that_no_worker_can_have(gpus: float) -> None:
    with pytest.raises(ZerotagError, match=rf"^--gpus {gpus:g}: a worker gets a share of one GPU, or a whole number"):
        EngineOptions(engine="ray", gpus=gpus).cluster()
