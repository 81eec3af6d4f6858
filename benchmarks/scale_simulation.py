"""How long shards take on many machines: a simulation of workers that take shards, are slow, and fail.

`python benchmarks/scale_simulation.py` writes results/scale_simulation.json. Its last rows check the simulation: the
shards of a plan are done here by several processes, and by a cluster of Ray where that is installed, and the seconds
that each shard took, from its marker, are given to as many simulated workers.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean

from results_file import RESULTS, write_results

_ROOT = Path(__file__).parents[1]
_RUNS = 20
_COMMIT = 5.0  # seconds of work that a kill costs where workers share a file system


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Workers, and what may be wrong with them."""

    workers: int
    load: float = 10.0
    """Seconds until a worker has its model."""
    slow: float = 0.0
    """The share of workers that run at half speed."""
    failing: float = 0.0
    """The share of workers that die, at any moment of the time that the work should take, and do not come back."""
    notice: float = 60.0
    """Seconds until somebody takes over what a dead worker had."""
    shared_disk: bool = True
    """Whether what a dead worker had done of its shard is there for the next one; in a store it is not."""


def seconds_needed(shards: Sequence[float], fleet: Fleet, draw: random.Random) -> float:
    """When the last of some shards is done, whose work takes so many seconds on a sound worker."""
    ideal = sum(shards) / fleet.workers
    workers = range(fleet.workers)
    speeds = dict.fromkeys(workers, 1.0) | dict.fromkeys(_some(draw, fleet, fleet.slow), 0.5)
    deaths = {worker: draw.uniform(0, ideal) for worker in _some(draw, fleet, fleet.failing)}
    free = [(fleet.load, worker) for worker in workers]
    heapq.heapify(free)
    ready = [(0.0, number, work) for number, work in enumerate(shards)]  # from when on somebody can take it
    end = 0.0
    while ready:
        now, worker = heapq.heappop(free)
        since, number, work = heapq.heappop(ready)
        begin = max(now, since)
        done = begin + work / speeds[worker]
        death = deaths.get(worker, float("inf"))
        if done <= death:
            end = max(end, done)
            heapq.heappush(free, (done, worker))
        elif begin < death:
            kept = max(0.0, (death - begin - _COMMIT) * speeds[worker]) if fleet.shared_disk else 0.0
            heapq.heappush(ready, (death + fleet.notice, number, work - kept))
        else:
            heapq.heappush(ready, (since, number, work))  # it was dead before
    return end


def _some(draw: random.Random, fleet: Fleet, share: float) -> list[int]:
    return draw.sample(range(fleet.workers), round(share * fleet.workers))


def overhead(shards_per_worker: int, hours: float, fleet: Fleet) -> float:
    """How much longer it takes than the work divided by the workers, as a ratio, on average."""
    shards = [hours * 3600 / shards_per_worker] * (shards_per_worker * fleet.workers)
    found = [seconds_needed(shards, fleet, random.Random(seed)) for seed in range(_RUNS)]
    return fmean(found) / (hours * 3600)


def rows(rate: float) -> list[dict[str, object]]:
    """What the guide says."""
    made: list[dict[str, object]] = []
    for billions in (1, 100):
        hours = billions * 1e9 / rate / 3600
        made.append(_row(f"GPU hours, {billions},000,000,000 sentences at the measured rate", None, round(hours, 1)))
    kinds = {
        "sound workers": {},
        "one worker in 64 at half speed": {"slow": 1 / 64},
        "5 % of the workers die": {"failing": 0.05},
        "5 % of the workers die, outputs in a store": {"failing": 0.05, "shared_disk": False},
    }
    for name, what in kinds.items():
        for each in (1, 4, 16, 64):
            fleet = Fleet(workers=64, **what)  # type: ignore[arg-type]
            made.append(
                _row(
                    f"time over the ideal, 64 workers, 5.5 h, {each} shards each, {name}",
                    1.0,
                    overhead(each, 5.5, fleet),
                )
            )
    return made


def _row(what: str, peer: float | None, ours: float) -> dict[str, object]:
    return {
        "what": what,
        "peer": peer,
        "ours": round(ours, 3),
        "ratio": round(ours / peer, 3) if peer else None,
        "target": None,
    }


def check(lines: int, workers: int, *, ray: bool) -> dict[str, object]:
    """Measured here, by processes or by workers of Ray, against what the simulation says of the same shards."""
    sys.path[:0] = [str(_ROOT), str(_ROOT / "tests")]
    from drills.shards import prepare

    environment = {
        **os.environ,
        "PYTHONPATH": str(_ROOT / "src"),
        "OMP_NUM_THREADS": "1",
        "RAY_worker_niceness": "0",  # that of plain processes
    }
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        prepare(folder, lines, random.Random(0))
        zerotag = [sys.executable, "-m", "zerotag", "label"]
        planned = [*zerotag, "model", "lines.txt", "--shards", "64", "--out", "out", "--device", "cpu"]
        subprocess.run(planned, cwd=folder, env=environment, check=True, capture_output=True)
        began = time.time()
        command = [*zerotag, "--plan", "out/plan.json"]
        commands = [[*command, "--engine", "ray", "--workers", str(workers)]] if ray else [command] * workers
        started = [subprocess.Popen(one, cwd=folder, env=environment, stderr=subprocess.DEVNULL) for one in commands]
        codes = [one.wait() for one in started]
        markers = sorted((folder / "out" / "done").glob("*.json"))
        measured = max(marker.stat().st_mtime for marker in markers) - began
        seconds = [json.loads(marker.read_text())["seconds"] for marker in markers]
        first = min(marker.stat().st_mtime for marker in markers) - began
    assert not any(codes)
    load = first - min(seconds)
    simulated = seconds_needed(seconds, Fleet(workers=workers, load=load), random.Random(0))
    return _row(
        f"seconds, {len(seconds)} shards by {workers} {'workers of Ray' if ray else 'processes'} here, "
        "against the simulation",
        simulated,
        measured,
    )


def main() -> None:
    """Simulate, check, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--lines", type=int, default=200_000)
    asked = parser.parse_args()
    labelling = json.loads((RESULTS / "gpu_labelling.json").read_text())["rows"]
    (rate,) = {
        row["ours"]
        for row in labelling
        if row["what"].startswith("sentences/s, text in, JSON lines out, half depth; pipeline for words")
    }
    engines = [False, True] if find_spec("ray") else [False]
    checks = [check(asked.lines, 2, ray=ray) for ray in engines]
    print(write_results("scale_simulation", [*rows(rate), *checks], folder=asked.out))


if __name__ == "__main__":
    main()
