"""Comparisons by the workers of Ray: what one process makes of them."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benches import Ear, ObedientBench, group
from zerotag.errors import ZerotagError
from zerotag.parallel.ray_pool import Cluster, Patience
from zerotag.research.compare.comparison import compare
from zerotag.research.compare.messages import Failed, Finished, Said
from zerotag.research.compare.on_ray import on_ray

pytest.importorskip("ray", reason="Ray is installed by make test-all")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # those of Ray's own
    pytest.mark.timeout(1_800),  # on a machine that has much else to do
]


@pytest.fixture(autouse=True)
def _workers_find_the_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


def test_groups_go_to_workers_that_survive_the_worst(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerotag.research.compare.on_ray.PATIENCE", Patience(deaths=2))
    ear = Ear()
    groups = [group("a", "die", "b", training="x"), group("refuse", "c"), group("break", "d"), group("e")]
    on_ray(groups, ObedientBench(tmp_path), Cluster(workers=1), ear.hear, None)
    assert (tmp_path / "fce.a.1").exists()  # its message may die with the worker
    assert {"c", "d", "e"} <= set(ear.finished) <= {"a", "c", "d", "e"}
    assert {"die", "b", "refuse", "break"} <= set(ear.failed) <= {"a", "die", "b", "refuse", "break"}
    assert ear.failed["refuse"] == "bad input"
    assert "its worker died" in ear.failed["b"]
    assert (tmp_path / "fce.d.1").read_text() != (tmp_path / "fce.e.1").read_text()  # a broken worker is replaced


def test_at_the_deadline_work_is_left_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Said | Finished | Failed] = []

    def tell(message: Said | Finished | Failed) -> None:
        heard.append(message)
        late = time.monotonic() + 1_000  # from now on the deadline is over
        monkeypatch.setattr("zerotag.research.compare.on_ray.time", SimpleNamespace(monotonic=lambda: late))

    deadline = time.monotonic() + 500
    on_ray([group("hang")], ObedientBench(tmp_path), Cluster(workers=1), tell, deadline)
    assert (tmp_path / "fce.hang.1.stopped").exists()
    assert {type(message) for message in heard} == {Said}


def test_a_comparison_is_the_same(small: Path, tmp_path: Path) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    made = [
        compare(small, out=tmp_path / "alone"),
        compare(small, out=tmp_path / "ray", cluster=Cluster(workers=2)),
    ]
    torch.set_num_threads(before)
    assert [(one.failed, one.left) for one in made] == [({}, ())] * 2
    assert _results(tmp_path / "ray") == _results(tmp_path / "alone")
    with pytest.raises(ZerotagError, match="--jobs are processes of this machine"):
        compare(small, out=tmp_path / "ray", jobs=2, cluster=Cluster())


def _results(folder: Path) -> dict[str, Any]:
    """All runs, without what differs from time to time."""
    found: dict[str, Any] = {}
    for file in (folder / "runs").iterdir():
        record = json.loads(file.read_text())
        del record["made"], record["cost"]["seconds_per_1000"]
        if record["training"] is not None:
            del record["training"]["seconds"]
        found[file.name] = record
    return found
