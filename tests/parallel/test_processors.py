from __future__ import annotations

import os

import pytest

from zerotag.parallel.processors import processors, threads


def test_threads_are_those_asked_for_else_one_for_each_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads() == 3
    for value in ("", "0", "many"):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert threads() == processors()


def test_processors_are_those_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 5}, raising=False)
    assert processors() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert processors() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1
