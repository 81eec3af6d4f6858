"""What a plan costs against one `zerotag label`, and Ray against as many plain processes.

    python benchmarks/scale_overhead.py                         # with Ray: .venv/distributed/bin/python
    python benchmarks/scale_overhead.py --lines 2000 --rounds 1 # a look

Each way labels the same made-up lines with a tiny network, in turn, round after round, at two sizes: a fourth of the
lines and all of them. What is compared is processor time, of all processes that a way starts, as the machine may do
other things too, and its median over the rounds; wall time is given beside it. The difference of the two sizes leaves
the start of the processes out, which a long run has only once, and that of Ray's cluster, which is there already where
it is used.
"""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median

from results_file import command_line, row, write_results

_ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(_ROOT), str(_ROOT / "tests")]

from drills.process_tree import ProcessTree  # noqa: E402 (where drills are is known from here on)
from drills.shards import prepare  # noqa: E402

_WORKERS = 2
_SHARDS = "16"
_ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(_ROOT / "src"),
    "OMP_NUM_THREADS": "1",
    "RAY_worker_niceness": "0",  # that of plain processes
}
_HAS_RAY = importlib.util.find_spec("ray") is not None

Way = Callable[[Path], None]


def _start(*arguments: str, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "zerotag", "label", *arguments]
    return subprocess.Popen(command, cwd=folder, env=_ENVIRONMENT, stderr=subprocess.DEVNULL)


def _run(*commands: tuple[str, ...], folder: Path) -> None:
    """Commands at the same time."""
    codes = [one.wait() for one in [_start(*command, folder=folder) for command in commands]]
    assert not any(codes), commands


def _plan(folder: Path) -> None:
    shutil.rmtree(folder / "out", ignore_errors=True)  # the same plan anew would be done already
    _run(("model", "lines.txt", "--shards", _SHARDS, "--device", "cpu", "--out", "out"), folder=folder)


def one_label(folder: Path) -> None:
    """One process, no plan."""
    _run(("model", "lines.txt", "--out", "one.jsonl", "--device", "cpu", "--overwrite"), folder=folder)


def planned(folder: Path) -> None:
    """One process, which works on a plan that is made before."""
    _run(("--plan", "out/plan.json"), folder=folder)


def plain_processes(folder: Path) -> None:
    """Several processes, which work on a plan."""
    _run(*[("--plan", "out/plan.json")] * _WORKERS, folder=folder)


def with_ray(folder: Path) -> None:
    """As many workers of Ray, in a cluster that is started for them."""
    workers = str(_WORKERS)
    _run(("--plan", "out/plan.json", "--engine", "ray", "--workers", workers), folder=folder)


def measured(lines: int, rounds: int) -> dict[tuple[Way, int], tuple[float, float]]:
    """The median processor seconds and wall seconds of each way at each size; making the plan counts for `planned`."""
    ways: list[Way] = [one_label, planned, plain_processes, *([with_ray] if _HAS_RAY else [])]
    sizes = (lines // 4, lines)
    found: defaultdict[tuple[Way, int], list[tuple[float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        for size in sizes:
            (folder := Path(scratch, str(size))).mkdir()
            prepare(folder, size, random.Random(0))
        for _ in range(rounds):
            for size in sizes:
                for way in ways:
                    folder = Path(scratch, str(size))
                    if way in (plain_processes, with_ray):
                        _plan(folder)
                    with ProcessTree() as tree:
                        if way is planned:
                            _plan(folder)
                        way(folder)
                    found[way, size].append((tree.processor_seconds, tree.wall_seconds))
                    print(f"{way.__name__}, {size:,} lines: {found[way, size][-1]}", flush=True)
    return {key: (median(cpu for cpu, _ in both), median(wall for _, wall in both)) for key, both in found.items()}


def main() -> None:
    """Measure, and write the results."""
    parser = command_line(__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    lines, rounds = (2_000, 1) if asked.quick else (asked.lines, asked.rounds)
    found = measured(lines, rounds)
    rows = []
    pairs: list[tuple[str, Way, Way, str]] = [("a plan against one label", one_label, planned, "≤ 1.03")]
    if _HAS_RAY:
        pairs.append((f"Ray against {_WORKERS} plain processes", plain_processes, with_ray, "≤ 1.10"))
    for name, peer, ours, target in pairs:
        (peer_small, _), (peer_large, peer_wall) = found[peer, lines // 4], found[peer, lines]
        (ours_small, _), (ours_large, ours_wall) = found[ours, lines // 4], found[ours, lines]
        about = f"{name}, {lines:,} lines, {rounds} rounds"
        rows += [
            row(f"processor seconds, {about}", peer_large, ours_large, target),
            row(f"processor seconds without the start, {about}", peer_large - peer_small, ours_large - ours_small),
            row(f"wall seconds, {about}", peer_wall, ours_wall),
        ]
    print(write_results("scale_overhead", rows, folder=asked.out))


if __name__ == "__main__":
    main()
