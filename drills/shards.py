"""Workers and whole nodes are killed at random; what is written is what one undisturbed process writes.

`python -m drills.shards 1000000 50 1` labels a million lines with a tiny network: in one process, by several plain
processes, and by Ray in a cluster of several nodes on this machine, with 50 kills and the seed 1. Without Ray installed
the plain processes are killed instead.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import zerotag
from drills.drill import Attempt, Drill, Problem
from drills.process_tree import ProcessTree
from zerotag.bulk.shards.markers import Done, Markers, Running
from zerotag.bulk.shards.plan import read_plan
from zerotag.io.stores import LocalStore

_HANGS = 3_600.0  # seconds
_LINES = 100_000  # of a drill
_KILLS = 10  # until it is let go to its end
_NODE_AFTER = 5  # kills of workers a node is lost
_WORKERS = 2
_FLAT = 1.05  # a worker's memory in the last quarter of its shards, by that in the second
_HAS_RAY = importlib.util.find_spec("ray") is not None
_ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(zerotag.__file__).parents[1]),
    "OMP_NUM_THREADS": "1",
    "RAY_DEDUP_LOGS": "0",
    "RAY_health_check_timeout_ms": "60000",  # a busy node is not dead; one that is refuses at once
    "RAY_worker_niceness": "0",  # that of plain processes
}


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds of wall time: how long each way took."""

    lines: int
    shards: int
    kills: int
    nodes_lost: int
    workers: int
    plan: float
    one_process: float
    plain_processes: float
    ray: float | None
    killed: float
    peak_megabytes: float
    """Of the process that used most memory."""
    memory_growth: float | None
    """Of the worker whose memory grew most, as a ratio; None if none of them was at it long enough to say."""


Way = Callable[[Path, int, random.Random, int], tuple[float, int, int]]
"""Does a plan while so many kills are carried out; how long it took, how many nodes were lost, how many kills."""


def drills() -> list[Drill]:
    """With plain processes and, where Ray is installed, with a cluster of Ray."""
    ways = {"processes": _with_plain_processes, **({"ray": _with_ray} if _HAS_RAY else {})}
    return [Drill(f"shards, {name}", 50, partial(_prepared, way)) for name, way in ways.items()]


@contextmanager
def _prepared(way: Way, scratch: Path) -> Iterator[Attempt]:
    prepare(scratch, _LINES, random.Random(0))
    _zerotag("label", "model", "lines.txt", "--out", "one.jsonl", "--device", "cpu", cwd=scratch)
    expected = _digest(scratch / "one.jsonl")

    def attempt(draw: random.Random) -> Iterator[Problem | None]:
        shutil.rmtree(scratch / "killed", ignore_errors=True)  # the same plan anew would be done already
        _zerotag(*_planned("killed"), cwd=scratch)
        _, _, killed = way(scratch, _KILLS, draw, _WORKERS)
        yield from [None] * (killed - 1)
        yield _difference(scratch, "killed", expected) if killed else Problem("crash", "nobody was there to be killed")

    yield attempt


def measure(lines: int, kills: int, seed: int) -> tuple[Timings, list[Problem]]:
    """Label so many lines in each way."""
    with tempfile.TemporaryDirectory(prefix="zerotag-drill-") as scratch:
        return _measure(Path(scratch), lines, kills, random.Random(seed))


def _measure(folder: Path, lines: int, kills: int, draw: random.Random) -> tuple[Timings, list[Problem]]:
    prepare(folder, lines, draw)
    one = _timed(lambda: _zerotag("label", "model", "lines.txt", "--out", "one.jsonl", "--device", "cpu", cwd=folder))
    expected = _digest(folder / "one.jsonl")
    plan = _timed(lambda: _zerotag(*_planned("plain"), cwd=folder))
    with ProcessTree() as tree:
        plain = _timed(lambda: _together(["label", "--plan", "plain/plan.json"], _WORKERS, folder))
    peak, grown = tree.peak_megabytes, _growths(tree, folder / "plain")
    problems = [_difference(folder, "plain", expected)]
    with_ray = None
    if _HAS_RAY:
        _zerotag(*_planned("ray"), cwd=folder)
        with cluster(_WORKERS) as nodes, ProcessTree() as tree:
            with_ray = _timed(lambda: _zerotag(*_on_ray("ray", nodes), cwd=folder))
        peak, grown = max(peak, tree.peak_megabytes), grown + _growths(tree, folder / "ray")
        problems.append(_difference(folder, "ray", expected))
    _zerotag(*_planned("killed"), cwd=folder)
    seconds, nodes_lost, killed = (_with_ray if _HAS_RAY else _with_plain_processes)(folder, kills, draw, _WORKERS)
    problems.append(_difference(folder, "killed", expected))
    count = len(read_plan(LocalStore(folder / "killed")).shards)
    growth = max(grown, default=None)
    if growth and growth > _FLAT:
        problems.append(Problem("crash", f"the memory of a worker grew by {growth - 1:.0%}"))
    timings = Timings(lines, count, killed, nodes_lost, _WORKERS, plan, one, plain, with_ray, seconds, peak, growth)
    return timings, [problem for problem in problems if problem]


def _growths(tree: ProcessTree, out: Path) -> list[float]:
    """How much the memory of each worker of a plan grew, as a ratio, where that can be said."""
    store = LocalStore(out)
    done = defaultdict[int, list[float]](list)  # by a process
    for number, marker in Markers(store, read_plan(store)).all(Done).items():
        done[_process(marker.worker)].append((out / "done" / f"{number:05d}.json").stat().st_mtime)
    found = (tree.growth(process, moments) for process, moments in done.items())
    return [growth for growth in found if growth]


def _process(worker: str) -> int:
    return int(worker.rpartition(":")[2])


def _planned(out: str) -> list[str]:
    return ["label", "model", "lines.txt", "--shards", "64", "--device", "cpu", "--out", out]


def prepare(folder: Path, lines: int, draw: random.Random) -> None:
    """A tiny model and made-up lines; one in a thousand is of no use."""
    import tiny
    from zerotag.config import ModelConfig

    tiny.labeller(config=ModelConfig(encoder="tiny", depth=1, window=32)).save_pretrained(folder / "model")
    words = [word for sentence, _ in tiny.sentences(40) for word in sentence]
    with (folder / "lines.txt").open("wb") as file:
        for number in range(lines):
            text = " ".join(draw.choices(words, k=draw.randint(2, 6)))
            file.write(b"\xff\n" if number % 1_000 == 999 else f"{text} {number}\n".encode())


def _with_ray(folder: Path, kills: int, draw: random.Random, workers: int) -> tuple[float, int, int]:
    lost = 0
    with cluster(workers) as nodes:
        extra = [nodes.add_node(num_cpus=1)]

        def kill_node() -> None:
            nonlocal lost
            nodes.remove_node(extra.pop(), allow_graceful=False)
            lost += 1
            extra.append(nodes.add_node(num_cpus=1))

        command = _on_ray("killed", nodes)
        work = partial(_zerotag, *command, cwd=folder)
        seconds, killed = _disturbed(work, folder / "killed", kills, draw, kill_node)
    return seconds, lost, killed


def _with_plain_processes(folder: Path, kills: int, draw: random.Random, workers: int) -> tuple[float, int, int]:
    arguments = ["label", "--plan", "killed/plan.json"]

    def until_done() -> None:
        while _together(arguments, workers, folder, may_die=True):
            pass  # one of them was killed, as a scheduler would start it again

    seconds, killed = _disturbed(until_done, folder / "killed", kills, draw, lambda: None)
    return seconds, 0, killed


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """A cluster of Ray with so many nodes that have room for a worker, beside the head."""
    from ray.cluster_utils import Cluster

    os.environ.update(_ENVIRONMENT)  # of the nodes
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(workers):
            nodes.add_node(num_cpus=1)
        yield nodes
    finally:
        nodes.shutdown()


def _on_ray(out: str, nodes: Any) -> list[str]:
    return ["label", "--plan", f"{out}/plan.json", "--engine", "ray", "--address", nodes.address]


def _disturbed(
    work: Callable[[], object], out: Path, kills: int, draw: random.Random, kill_node: Callable[[], None]
) -> tuple[float, int]:
    """Kill workers that are at a shard, and now and then a node, while others work; how long that took, how many kills.

    The work is in a thread: nodes of Ray can be added by the main one alone.
    """
    store = LocalStore(out)
    markers = Markers(store, read_plan(store))
    gone: set[str] = set()
    killed = 0
    with ThreadPoolExecutor(1) as thread:
        seconds = thread.submit(_timed, work)
        while killed < kills and not seconds.done():
            time.sleep(draw.uniform(0, 0.5))
            alive = {sign.worker for sign in markers.all(Running).values()} - gone
            if alive:
                gone.add(victim := draw.choice(sorted(alive)))
                with suppress(ProcessLookupError):  # it went with its node
                    os.kill(_process(victim), signal.SIGKILL)
                    killed += 1
                    if killed % _NODE_AFTER == 0:
                        kill_node()
        return seconds.result(), killed


def _difference(folder: Path, out: str, expected: str) -> Problem | None:
    merged = f"{out}.jsonl"
    _zerotag("label", "--plan", f"{out}/plan.json", "--merge", "--out", merged, "--overwrite", cwd=folder)
    rejects = [(folder / f"{name}.jsonl.rejected.jsonl").read_bytes() for name in ("one", out)]
    same = _digest(folder / merged) == expected and rejects[0] == rejects[1]
    return None if same else Problem("lost", f"{out}: not what one process writes")


def _zerotag(*arguments: str, cwd: Path) -> None:
    subprocess.run([sys.executable, "-m", "zerotag", *arguments], cwd=cwd, env=_ENVIRONMENT, check=True, timeout=_HANGS)


def _together(arguments: Sequence[str], workers: int, folder: Path, *, may_die: bool = False) -> bool:
    """Run the same command several times at once; whether any of them died."""
    command = [sys.executable, "-m", "zerotag", *arguments]
    started = [subprocess.Popen(command, cwd=folder, env=_ENVIRONMENT) for _ in range(workers)]
    codes = {one.wait(_HANGS) for one in started}
    if codes - ({0, -signal.SIGKILL} if may_die else {0}):
        raise subprocess.CalledProcessError(max(codes), command)
    return codes != {0}


def _timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, blake2b).hexdigest()


def main() -> None:
    """The drill from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", type=int)
    parser.add_argument("kills", type=int)
    parser.add_argument("seed", type=int)
    arguments = parser.parse_args()
    timings, problems = measure(arguments.lines, arguments.kills, arguments.seed)
    for name, value in asdict(timings).items():
        print(f"{name}: {value:.5g}" if isinstance(value, float) else f"{name}: {value}")
    print(*(f"{kind}: {what}" for kind, what in problems), sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
