"""What is seen of processes while they run."""

from __future__ import annotations

import subprocess
import sys

import pytest
from drills.process_tree import ProcessTree, Sample

BURN = "import time\nwhile time.process_time() < 1.5: pass"


def test_processor_time_of_a_grandchild() -> None:
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])"
    with ProcessTree() as tree:
        subprocess.run([sys.executable, "-c", start], check=True)
    assert len(tree.samples) >= 2
    assert 0.5 < tree.processor_seconds < 10
    assert tree.wall_seconds >= 1.5
    assert 1 < tree.peak_megabytes < 1_000


@pytest.mark.parametrize(("leak", "growth"), [(0.0, 1.0), (1.0, 1.1)])
def test_memory_counts_once_the_first_work_is_done(leak: float, growth: float) -> None:
    """A sample each second; in the first ten the memory goes from nothing to 450 MB, then it leaks or does not."""
    tree = ProcessTree()
    tree.samples[1] = [Sample(float(at), 0, min(at, 10) * 45.0 + leak * at) for at in range(100)]
    assert tree.growth(1, [float(at) for at in range(8, 100, 4)]) == pytest.approx(growth, abs=0.01)
    assert tree.growth(1, [20.0, 40.0]) is None  # too few to say
    assert tree.growth(2, [float(at) for at in range(8, 100, 4)]) is None  # seen by nobody
