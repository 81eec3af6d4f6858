"""A short part of every drill, and that drills find what they are there to find."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from drills import __main__ as command
from drills import kills, shards
from drills.drill import Attempt, Drill, Problem, carry_out
from drills.isolated import Isolated, LostError
from drills.kills import Victim

from zerotag.errors import ZerotagError

DRILLS = {drill.name: drill for drill in command.all_drills()}
SHORT = {"readers": 25, "model folders, torch": 15, "HTTP requests": 60, "stale outputs": 6, "kills, label jsonl": 2}


def test_there_are_as_many_cases_as_promised() -> None:
    def cases(start: str) -> list[int]:
        return [drill.cases for name, drill in DRILLS.items() if name.startswith(start)]

    assert len(cases("readers")) == 6
    assert min(cases("readers")) >= 10_000
    assert sum(cases("model folders")) >= 1_000
    assert sum(cases("kills")) >= 200
    assert min(cases("shards")) >= 50
    killed = {name.removeprefix("kills, ").partition(" ")[0] for name in DRILLS if name.startswith("kills")}
    assert killed == {"train", "label", "export", "save", "compare"}


@pytest.mark.parametrize("name", [name for name in DRILLS if name.startswith(tuple(SHORT))])
def test_a_short_part(name: str) -> None:
    cases = next(count for start, count in SHORT.items() if name.startswith(start))
    summary = carry_out(replace(DRILLS[name], cases=cases), seed=0)
    assert summary.is_clean, summary.problems
    assert summary.cases >= cases


def test_workers_of_a_plan_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice, with fewer lines than in the drill."""
    monkeypatch.setattr(shards, "_LINES", 40_000)
    monkeypatch.setattr(shards, "_KILLS", 2)
    summary = carry_out(replace(DRILLS["shards, processes"], cases=2), seed=0)
    assert summary.is_clean, summary.problems
    assert summary.cases == 2


def test_nobody_is_killed_where_all_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An attempt at which nothing happens is no case that went well."""
    monkeypatch.setattr(shards, "_LINES", 10)
    with shards._prepared(lambda *_: (0.0, 0, 0), tmp_path) as attempt:
        assert [*attempt(random.Random(0))] == [Problem("crash", "nobody was there to be killed")]


def _odd(case: str) -> str:
    match case:
        case "refused":
            raise ZerotagError("one line")
        case "two lines":
            raise ZerotagError("one\ntwo")
        case "lost":
            raise LostError("another result")
        case "traceback":
            raise KeyError(case)
        case "ended":
            raise SystemExit(0)
        case "memory":
            return str(len(b"x" * 1_300_000_000))
        case "too much memory":
            return str(len(bytes(9 << 30)))
        case "slow":
            started = time.process_time()
            while time.process_time() - started < 2.5:
                pass
    return case


def test_what_an_isolated_process_tells() -> None:
    work = Isolated(_odd)
    kinds = ["done", "refused", "two lines", "lost", "traceback", "ended", "memory", "too much memory", "slow", "done"]
    found = [work(case).kind for case in kinds]
    work.stop()
    crash = "crash"
    assert found == ["done", "refused", crash, "lost", crash, crash, crash, crash, "hang", "done"]


def _write_in_place(folder: Path) -> None:
    """As one should not."""
    from zerotag.io.files import disk

    disk.remove(folder / "out")
    (folder / "out").write_text("half")
    disk.sync(folder / "out")
    (folder / "out").write_text("whole")


def _put_old(folder: Path) -> None:
    (folder / "out").write_text("whole")


def _text(folder: Path) -> str:
    return (folder / "out").read_text() if (folder / "out").exists() else "nothing"


def _torn(folder: Path) -> str:
    return "" if _text(folder) == "whole" else f"{_text(folder)} is there"


def _never(_: Path) -> bool:
    return False


def _careless(_: str) -> Victim:
    return Victim(_put_old, _write_in_place, _never, _text, _torn)


def test_a_command_that_writes_in_place_is_found() -> None:
    drill = Drill("careless", 6, partial(kills._prepared, _careless, "careless"))
    summary = carry_out(drill, seed=1)
    assert {problem.what.rpartition(": ")[2] for problem in summary.problems} == {"half is there"}
    assert not summary.is_clean


def test_a_stopped_drill_goes_on(tmp_path: Path) -> None:
    tried: list[float] = []

    @contextmanager
    def prepared(_: Path) -> Iterator[Attempt]:
        def attempt(draw: random.Random) -> Iterator[Problem | None]:
            tried.append(draw.random())
            yield Problem("crash", "odd") if len(tried) == 2 else None

        yield attempt

    drill = Drill("counting", 10, prepared)
    state = tmp_path / "states" / "counting.json"
    first = carry_out(replace(drill, cases=4), 1, state)
    assert carry_out(drill, 1, state, until=0).cases == 4
    whole = carry_out(drill, 1, state)
    assert (first.cases, whole.cases, len(set(tried)), len(tried)) == (4, 10, 10, 10)
    assert whole.problems == [Problem("crash", "counting 1: odd")]
    assert not whole.is_clean
    assert "10 cases    1 crashes    0 hangs    0 lost" in str(whole)
    again = list(tried)
    tried.clear()
    carry_out(drill, 1)
    assert tried == again
    assert carry_out(drill, 2).problems == []
