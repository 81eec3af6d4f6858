"""`python -m drills`: all drills, two at a time, a line for each, and a table at the end.

Stopped, it goes on where it was, unless the code has changed since. The exit code is 1 if anything went wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import shutil
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from drills import http_requests, kills, model_folders, reader_files, shards, spark_frames, stale_outputs
from drills.drill import Drill, Problem, Summary, carry_out

_ROOT = Path(__file__).parents[1]
_STATE = _ROOT / ".drills"
_SHOWN = 20  # problems of a drill; the state of a run has all


def all_drills() -> list[Drill]:
    """Those that take longest first."""
    modules = (kills, http_requests, reader_files, model_folders, shards, spark_frames, stale_outputs)
    return [drill for module in modules for drill in module.drills()]


def main() -> int:
    """Run the drills that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m drills", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="drills to run, by the beginnings of their names; all by default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0, help="of the cases")
    parser.add_argument("--minutes", type=float, default=60.0, help="after these it stops; it can go on later")
    parser.add_argument("--jobs", type=int, default=2, help="drills at a time")
    asked = parser.parse_args()
    chosen = [
        replace(drill, cases=max(1, round(drill.cases * asked.share)))
        for drill in all_drills()
        if not asked.names or drill.name.startswith(tuple(asked.names))
    ]
    os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    state = _STATE / f"{_code()}-{asked.seed}-{asked.share:g}"
    found = _run(chosen, asked.seed, state, time.time() + 60 * asked.minutes, asked.jobs)
    print("\nSummary", *found, sep="\n")
    for summary in found:
        for problem in summary.problems[:_SHOWN]:
            print(f"{problem.kind}: {problem.what}")
    if all(summary.cases >= summary.wanted for summary in found):
        shutil.rmtree(state, ignore_errors=True)
    return int(not all(summary.is_clean for summary in found))


def _run(chosen: list[Drill], seed: int, state: Path, until: float, jobs: int) -> list[Summary]:
    spawn = multiprocessing.get_context("spawn")
    done: dict[str, Summary] = {}
    waiting = list(chosen)
    running: dict[Future[Summary], tuple[Drill, ProcessPoolExecutor]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                # A process of its own for each drill: one that ends takes no other along.
                drill, pool = waiting.pop(0), ProcessPoolExecutor(1, mp_context=spawn)
                running[pool.submit(carry_out, drill, seed, _file(state, drill), until)] = drill, pool
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                drill, pool = running.pop(future)
                pool.shutdown()
                done[drill.name] = _summary(drill, future)
                print(done[drill.name], flush=True)
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on")
    return [done[drill.name] for drill in chosen]


def _summary(drill: Drill, future: Future[Summary]) -> Summary:
    try:
        return future.result()
    except Exception as error:  # the drill itself, whose process may have ended
        return Summary(drill.name, drill.cases, problems=[Problem("crash", f"{drill.name}: {error!r:.500}")])


def _file(state: Path, drill: Drill) -> Path:
    return state / f"{drill.name.replace(' ', '-').replace(',', '')}.json"


def _code() -> str:
    """What tells the code of zerotag and of the drills from other code."""
    digest = hashlib.sha256()
    for folder in ("src/zerotag", "drills"):
        for file in sorted((_ROOT / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main())
