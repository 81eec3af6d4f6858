"""Tasks in a cluster of Ray on this machine, of which some fail and some take their workers along."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from zerotag.errors import ZerotagError
from zerotag.parallel.ray_pool import Cluster, DeathError, GivenUp, Patience, RayPool, Returned, Tell, Told, Work

ray = pytest.importorskip("ray", reason="Ray is installed by make test-all")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # those of Ray's own
    pytest.mark.timeout(1_800),  # on a machine that has much else to do
]

TWO = Cluster(workers=2)


def pool(do: Callable[[Any, Tell], Any], patience: Patience, cluster: Cluster = TWO) -> RayPool[Any]:
    def begin() -> Work[Any]:  # sent by its code: workers do not know this module
        return do

    return RayPool(begin, cluster, patience, on_gpus=None)


def test_tasks_that_fail_and_workers_that_die(tmp_path: Path) -> None:
    def do(task: str, tell: Tell) -> str:
        tell(f"doing {task}")
        match task:
            case "bad":
                raise ValueError("bad")
            case "busy" if not (tmp_path / task).exists():
                (tmp_path / task).touch()
                raise BlockingIOError
            case "deadly":
                os._exit(1)
            case "unlucky" if not (tmp_path / task).exists():
                (tmp_path / task).touch()
                os._exit(1)
        return task.upper()

    tasks = ["a", "bad", "busy", "deadly", "unlucky", "b"]
    with pool(do, Patience(deaths=2, not_counted=(BlockingIOError,))) as workers:
        happened = [one for one in workers.do(tasks) if one is not None]
    returned = {tasks[number]: result for number, result in (one for one in happened if isinstance(one, Returned))}
    given_up = {tasks[number]: error for number, error in (one for one in happened if isinstance(one, GivenUp))}
    assert returned == {"a": "A", "busy": "BUSY", "unlucky": "UNLUCKY", "b": "B"}
    assert {task: type(error) for task, error in given_up.items()} == {"bad": ValueError, "deadly": DeathError}
    told = [message for _, message in (one for one in happened if isinstance(one, Told))]
    assert {"doing a", "doing b", "doing busy"} <= set(told)


def test_messages_come_while_the_work_goes_on_and_it_can_be_stopped(tmp_path: Path) -> None:
    def do(task: str, tell: Tell) -> None:
        try:
            for number in range(10_000):
                tell(number)
                time.sleep(0.05)
        finally:
            (tmp_path / task).write_text("stopped")

    with pool(do, Patience(deaths=1, seconds_to_stop=20.0), Cluster(workers=1)) as workers:
        for happened in workers.do(["long"]):
            if isinstance(happened, Told) and happened.message > 5:
                break
    assert (tmp_path / "long").read_text() == "stopped"


def test_a_worker_that_cannot_begin() -> None:
    def begin() -> Work[Any]:
        raise ZerotagError("there is no model")

    with (
        pytest.raises(ZerotagError, match="a worker could not be started: there is no model"),
        RayPool(begin, TWO, Patience(deaths=1), on_gpus=None) as workers,
    ):
        list(workers.do(["a"]))


def test_there_is_no_room() -> None:
    with (
        pytest.raises(ZerotagError, match="the work is for GPUs, and Ray's cluster has 0 GPUs"),
        RayPool[str](lambda: lambda task, _: task, Cluster(), Patience(deaths=1), on_gpus=True) as workers,
    ):
        list(workers.do(["a"]))


def test_there_is_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself would go on trying where nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ZerotagError, match=f"^--address {address}: there is no Ray: .*refused"), _pool_at(address):
            pass
    refusing = SimpleNamespace(init=Mock(side_effect=ConnectionError("no Ray here\nand more")))
    monkeypatch.setitem(sys.modules, "ray", refusing)
    with pytest.raises(ZerotagError, match=r"^--address auto: there is no Ray, .*: no Ray here$"), _pool_at("auto"):
        pass


def _pool_at(address: str) -> RayPool[str]:
    return RayPool(lambda: lambda task, _: task, Cluster(address), Patience(deaths=1), on_gpus=None)
