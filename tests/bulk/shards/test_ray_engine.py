"""Shards handed out by Ray, in a cluster of several nodes on this machine, of which some die."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import plans
import tiny
from zerotag.bulk.shards.markers import Done, Markers, Running
from zerotag.bulk.shards.merge import merge
from zerotag.bulk.shards.plan import Plan
from zerotag.bulk.shards.ray_engine import RayEngine, Share
from zerotag.bulk.shards.worker import Worker, do_all
from zerotag.io.stores import LocalStore
from zerotag.parallel.ray_pool import Cluster

ray = pytest.importorskip("ray", reason="Ray is installed by make test-all")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # those of Ray's own
    pytest.mark.timeout(1_800),  # on a machine that has much else to do
]


@pytest.fixture
def nodes() -> Iterator[Any]:
    """A cluster in which the head has no room for workers, as it is not to die."""
    from ray.cluster_utils import Cluster as Nodes

    made = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    from zerotag.bulk import blocks

    tiny.labeller().save_pretrained(tmp_path / "model")
    lines = plans.write_lines(tmp_path / "a.txt", 3_000)
    with monkeypatch.context() as cutting:  # and nothing else: workers of Ray would not have it
        cutting.setattr(blocks, "_SMALLEST_STRIDE", 3_000)
        cutting.setattr(blocks, "_STRIDE", 1)
        return plans.plan(tmp_path / "model", [lines], tmp_path / "out", 20)


def test_workers_and_a_node_that_die(tmp_path: Path, nodes: Any, plan: Plan) -> None:
    first = nodes.add_node(num_cpus=1)
    nodes.add_node(num_cpus=1)
    store = LocalStore(tmp_path / "out")
    markers = Markers(store, plan)
    killed: list[int] = []
    shares: list[Share] = []
    over = threading.Event()

    def kill() -> None:
        while len(killed) < 3 and len(markers.all(Done)) < len(plan.shards) // 2 and not over.is_set():
            for sign in markers.all(Running).values():
                process = int(sign.worker.partition(":")[2])
                if process not in killed:
                    killed.append(process)
                    os.kill(process, signal.SIGKILL)
                    time.sleep(0.5)
            time.sleep(0.05)
        nodes.remove_node(first, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        failed = RayEngine(plan, str(tmp_path / "out"), Cluster(nodes.address), None).run(shares.append)
    finally:
        over.set()
        killer.join()
    assert killed
    assert failed == {}
    assert len(markers.all(Done)) == len(plan.shards)
    assert shares[-1].shards_done == len(plan.shards)
    assert _merged(plan, tmp_path / "out", tmp_path / "of ray") == _alone(plan, tmp_path)


def _merged(plan: Plan, out: Path, target: Path) -> bytes:
    merge(plan, LocalStore(out), target)
    return target.read_bytes()


def _alone(plan: Plan, folder: Path) -> bytes:
    """What a single process makes of the same plan."""
    store = LocalStore(folder / "alone")
    store.write("plan.json", plan.as_bytes())
    with Worker(plan, store) as worker:
        assert do_all(worker, lambda _: None) == []
    return _merged(plan, folder / "alone", folder / "of one")


def test_a_shard_that_cannot_be_done_does_not_keep_the_others(tmp_path: Path, plan: Plan) -> None:
    (tmp_path / "a.txt").write_bytes((tmp_path / "a.txt").read_bytes().replace(b"\xff", b"\xfe"))
    failed = RayEngine(plan, str(tmp_path / "out"), Cluster(workers=1), None).run()
    assert len(failed) > 1
    assert all("a.txt has changed since the plan was made" in reason for reason in failed.values())
