"""What is seen of processes while they run."""

from __future__ import annotations

import subprocess
import sys

from drills.process_tree import Course, ProcessTree, Sample

BURN = "import time\nwhile time.process_time() < 1.5: pass"


def test_processor_time_of_a_grandchild() -> None:
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])"
    with ProcessTree() as tree:
        subprocess.run([sys.executable, "-c", start], check=True)
    assert len(tree.samples) >= 2
    assert 0.5 < tree.processor_seconds < 10
    assert tree.wall_seconds >= 1.5
    assert tree.courses == []  # neither has a model


def test_memory_counts_from_when_there_is_a_model() -> None:
    tree = ProcessTree()
    loading = [Sample(0, 100.0)] * 50
    tree.samples[1] = loading + [Sample(0, 450.0)] * 30 + [Sample(0, 500.0)] * 30
    tree.samples[2] = loading + [Sample(0, 500.0)] * 10  # too short to say
    assert tree.courses == [Course(450.0, 500.0)]
