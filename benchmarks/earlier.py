"""An earlier commit of this project to compare with, and programs that run with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

COMMIT = "9336ce9"
HERE = Path(__file__).parents[1]


class Took(NamedTuple):
    """Seconds of a program: of processors, which others on the machine do not change much, and of the clock."""

    cpu: float
    wall: float
    output: str


@contextmanager
def earlier_tree(scratch: Path, *, quick: bool) -> Iterator[Path]:
    """The files of the earlier commit; those of now where it is only tried whether all runs."""
    if quick:
        yield HERE
        return
    tree = scratch / COMMIT
    git = ["git", "-C", str(HERE), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(tree), COMMIT], check=True)
    try:
        yield tree
    finally:
        subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def python(tree: Path, *arguments: object) -> Took:
    """Run Python with the package of a tree, on one thread, whose processor time is that of the clock elsewhere."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    start = perf_counter()
    with (
        tempfile.TemporaryFile("w+") as output,
        subprocess.Popen([sys.executable, *map(str, arguments)], env=environment, cwd=tree, stdout=output) as started,
    ):
        _, status, used = os.wait4(started.pid, 0)  # which tells of this process alone, whatever others there are
        started.returncode = os.waitstatus_to_exitcode(status)
        wall = perf_counter() - start
        if started.returncode:
            raise SystemExit(f"{' '.join(map(str, arguments))} ended with {started.returncode}")
        output.seek(0)
        return Took(used.ru_utime + used.ru_stime, wall, output.read())
