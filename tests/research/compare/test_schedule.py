import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from benches import Ear, ObedientBench, group, run
from zerotag.research.compare.messages import Failed, Finished, Said
from zerotag.research.compare.schedule import NowAndThen, groups_of, one_after_the_other, side_by_side


def processes(log: Path, methods: Iterable[str]) -> list[str]:
    return [(log / f"fce.{method}.1").read_text() for method in methods]


def test_runs_with_one_training_are_together_in_the_order_of_the_first() -> None:
    runs = [run("a", "x"), run("b", "y"), run("c", "x"), run("d"), run("a", "x", seed=2), run("a", "x", corpus="own")]
    assert [(one.corpus, one.training, one.seed, [r.method.name for r in one.runs]) for one in groups_of(runs)] == [
        ("fce", "x", 1, ["a", "c"]),
        ("fce", "y", 1, ["b"]),
        ("fce", None, 1, ["d"]),
        ("fce", "x", 2, ["a"]),
        ("own", "x", 1, ["a"]),
    ]


def test_workers_take_many_groups_and_survive_the_worst(tmp_path: Path) -> None:
    ear = Ear()
    groups = [
        group("a", "die", "b", training="x"),  # the worker is gone, and with it what it had left to do
        group("refuse", "c"),
        group("break", "d"),
        *(group(name) for name in "efgh"),
    ]
    side_by_side(groups, ObedientBench(tmp_path), 1, ear.hear, None)
    died = "its worker process died (exit code 3): start again to repeat it"
    assert ear.failed == {"die": died, "b": died, "refuse": "bad input", "break": "broken"}
    assert ear.finished == list("acdefgh")
    first, second, *third = processes(tmp_path, "acdefgh"[:1] + "c" + "efgh")
    assert first != second
    assert processes(tmp_path, "d") == [second]  # bad input leaves the worker sound, and the group is finished first
    assert len(set(third)) == 1  # one process for all that come after
    assert third[0] != second  # a broken one is replaced


def test_several_at_once(tmp_path: Path) -> None:
    ear = Ear()
    side_by_side([group("wait for b"), group("a"), group("b")], ObedientBench(tmp_path), 2, ear.hear, None)
    assert sorted(ear.finished) == ["a", "b", "wait for b"]
    assert ear.finished[0] == "a"  # of the others, whichever is heard first


class InterruptedBench(ObedientBench):
    """Ctrl-C is pressed while it arrives at a worker."""

    def __reduce__(self) -> tuple[object, ...]:
        return _interrupted, (self.log,)


def _interrupted(log: Path) -> ObedientBench:
    signal.raise_signal(signal.SIGINT)
    return ObedientBench(log)


def test_workers_do_not_hear_control_c(tmp_path: Path) -> None:
    ear = Ear()
    side_by_side([group("a")], InterruptedBench(tmp_path), 1, ear.hear, None)
    assert (ear.finished, ear.failed) == (["a"], {})


def deadline(seconds: float) -> float:
    return time.monotonic() + seconds


def test_at_the_deadline_workers_stop_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Said | Finished | Failed] = []

    def tell(message: Said | Finished | Failed) -> None:
        heard.append(message)
        wait_for(tmp_path / "fce.hang.1.started")
        late = time.monotonic() + 100  # from now on the deadline is over
        monkeypatch.setattr(time, "monotonic", lambda: late)

    side_by_side([group("hang"), group("a")], ObedientBench(tmp_path), 1, tell, deadline(60))
    assert (tmp_path / "fce.hang.1.stopped").exists()  # it was not killed
    assert not (tmp_path / "fce.a.1").exists()
    assert [type(message) for message in heard] == [Said]


ORPHANED = """
import sys
from pathlib import Path
from benches import ObedientBench, group
from zerotag.research.compare.schedule import side_by_side

if __name__ == "__main__":
    side_by_side([group("hang")], ObedientBench(Path(sys.argv[1])), 1, print, None)
"""


def test_workers_stop_when_who_started_them_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "orphaned.py"
    script.write_text(ORPHANED)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen([sys.executable, script, tmp_path], env=environment, stdout=subprocess.DEVNULL)
    wait_for(tmp_path / "fce.hang.1.started")
    process.kill()
    process.wait()
    wait_for(tmp_path / "fce.hang.1.stopped")


def wait_for(file: Path) -> None:
    patience = deadline(60)
    while not file.exists():
        assert time.monotonic() < patience, f"{file.name} did not come"
        time.sleep(0.01)


def test_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the time is up, as it is once one of them hangs."""
    ear = Ear()
    hanging = tmp_path / "fce.hang.1.started"
    monkeypatch.setattr(time, "monotonic", lambda: 100.0 if hanging.exists() else 0.0)
    groups = [group("a", "refuse", "b"), group("hang"), group("c")]
    one_after_the_other(groups, ObedientBench(tmp_path), ear.hear, deadline(50))
    assert (ear.finished, ear.failed) == (["a", "b"], {"refuse": "bad input"})
    assert processes(tmp_path, "ab") == [str(os.getpid())] * 2


def test_words_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    heard: list[Said] = []
    speaker = NowAndThen(heard.append)
    for second in range(21):
        now = 100.0 + second
        speaker.say(f"{second}")
    assert [said.message for said in heard] == ["0", "10", "20"]
