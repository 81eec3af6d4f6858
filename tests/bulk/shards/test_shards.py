"""Shards of a plan: done by anybody, killed at any moment, and together what a single run writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import plans
import tiny
from crashes import crashes, make
from zerotag.bulk import blocks
from zerotag.bulk.inputs import Inputs
from zerotag.bulk.journal import rejects_of, unfinished
from zerotag.bulk.run import Run, label_to_file
from zerotag.bulk.shards.markers import Done, Failed, Markers, Running, me
from zerotag.bulk.shards.merge import merge
from zerotag.bulk.shards.plan import Plan, read_plan, write_plan
from zerotag.bulk.shards.status import status_of
from zerotag.bulk.shards.worker import Worker, do_all
from zerotag.errors import ZerotagError
from zerotag.explain import create
from zerotag.io import Columns, Source
from zerotag.io.locks import BusyError, only_us
from zerotag.io.stores import LocalStore, store_at
from zerotag.io.writers.appendable import Form, encoder
from zerotag.io.writers.style import Style
from zerotag.labeller import load


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_SMALLEST_STRIDE", 256)
    monkeypatch.setattr(blocks, "_STRIDE", 1)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "tiny"
    tiny.labeller().save_pretrained(folder)
    return folder


@pytest.fixture
def lines(tmp_path: Path) -> list[Path]:
    return [plans.write_lines(tmp_path / f"{seed}.txt", count, seed) for seed, count in enumerate((60, 3, 4, 40))]


def single_run(model: Path, paths: list[Path], target: Path, form: Form) -> Path:
    """What one process writes of all the inputs."""
    labeller = load(model)
    inputs = Inputs([Source(path) for path in paths], Columns())
    inputs.check()
    inputs.split_by(labeller.manifest.model.segmenter)
    run = Run(
        inputs=inputs,
        scorer=create("native", labeller),
        label_names=labeller.label_names,
        rules=labeller.rules,
        at_once=plans.AT_ONCE,
    )
    style = Style(label_names=labeller.label_names, rules=labeller.rules, title="")
    its_encoder = encoder(form, style)
    with unfinished(target, {}, resume=False, beginning=its_encoder.beginning) as output:
        label_to_file(run, output, its_encoder)
    return target


def content(out: Path) -> dict[str, bytes]:
    """What a plan has made, without its marks."""
    places = [place for folder in ("labels", "rejected") for place in sorted((out / folder).glob("*"))]
    return {f"{place.parent.name}/{place.name}": place.read_bytes() for place in places}


@pytest.mark.parametrize("form", [Form("jsonl", origins=True), Form("jsonl", ".gz"), Form("tsv"), Form("parquet")])
def test_all_shards_together_are_what_one_run_writes(
    tmp_path: Path, model: Path, lines: list[Path], form: Form
) -> None:
    expected = single_run(model, lines, tmp_path / "single", form)
    plan = plans.plan(model, lines, tmp_path / "out", 7, plans.options(form))
    assert len(plan.shards) == 7
    store = LocalStore(tmp_path / "out")
    with Worker(plan, store) as worker:
        for number in (3, 0, 6, 2, 5, 4, 1):
            worker.do(number)
    counts = merge(plan, store, tmp_path / "merged")
    assert (tmp_path / "merged").read_bytes() == expected.read_bytes()
    assert rejects_of(tmp_path / "merged").read_bytes() == rejects_of(expected).read_bytes()
    assert counts.rejected == rejects_of(expected).read_bytes().count(b"\n") > 0
    assert not list((tmp_path / "out" / "work").iterdir())


def test_a_kill_or_power_cut_at_any_moment_loses_and_doubles_nothing(tmp_path: Path, model: Path) -> None:
    path = plans.write_lines(tmp_path / "a.txt", 30)
    out = tmp_path / "out"
    plan = plans.plan(model, [path], out, 2)
    with Worker(plan, LocalStore(out)) as worker:
        with crashes(out) as observed:
            first = worker.do(1)
        expected = content(out)
        assert len(observed.states) > 50
        for state in observed.states:
            make(state, out)
            known = worker.markers.done(1)
            if known:  # what says that it is done must be right
                assert content(out) == expected
            done = worker.do(1)
            assert replace(done, seconds=0) == replace(first, seconds=0)
            assert content(out) == expected
            assert not status_of(plan, worker.markers).running


def test_a_shard_done_twice_is_the_same(tmp_path: Path, model: Path, lines: list[Path]) -> None:
    plan = plans.plan(model, lines, tmp_path / "out", 3)
    with Worker(plan, LocalStore(tmp_path / "out")) as worker:
        first = worker.do(1)
        before = content(tmp_path / "out")
        assert worker.do(1) == first  # it was not done again
        again = worker.do(1, again=True)
    assert again.labels == first.labels
    assert content(tmp_path / "out") == before


def test_whoever_is_left_does_the_rest(tmp_path: Path, model: Path, lines: list[Path]) -> None:
    plan = plans.plan(model, lines, tmp_path / "out", 5)
    store = LocalStore(tmp_path / "out")
    said: list[str] = []
    with Worker(plan, store) as worker:
        worker.do(2)
        worker.markers.put(4, Running(plan=plan.id, worker="gone:1", at=0.0))
        assert do_all(worker, said.append) == []
    status = status_of(plan, Markers(store, plan))
    assert [*status.done] == [0, 1, 2, 3, 4]
    assert status.share == 1
    assert said == []


def test_a_shard_that_another_process_does_is_left_alone(tmp_path: Path, model: Path, lines: list[Path]) -> None:
    plan = plans.plan(model, lines, tmp_path / "out", 2)
    (tmp_path / "out" / "work").mkdir()
    with (
        Worker(plan, LocalStore(tmp_path / "out")) as worker,
        only_us(tmp_path / "out" / "work" / f"{plan.id[:8]}-00001"),
        pytest.raises(BusyError),
    ):
        worker.do(1)


def test_errors_are_marked_and_forgotten_once_the_shard_is_done(tmp_path: Path, model: Path, lines: list[Path]) -> None:
    plan = plans.plan(model, lines, tmp_path / "out", 2, plans.options(strict=True))
    store = LocalStore(tmp_path / "out")
    with Worker(plan, store) as worker:
        for times in (1, 2):
            with pytest.raises(ZerotagError, match="not UTF-8"):
                worker.do(0)
            failed = worker.markers.find(Failed, 0)
            assert failed
            assert (failed.times, failed.worker) == (times, me())
            assert "not UTF-8" in failed.error
        assert do_all(worker, lambda _: None) == [0, 1]
    assert [*status_of(plan, Markers(store, plan)).failed] == [0, 1]


def test_what_is_not_of_the_plan_is_refused(tmp_path: Path, model: Path, lines: list[Path]) -> None:
    store = LocalStore(tmp_path / "out")
    plan = plans.plan(model, lines, tmp_path / "out", 3)
    assert read_plan(store) == plan

    other = tmp_path / "other"
    tiny.labeller(labels=("other",)).save_pretrained(other)
    with Worker(plan, store, model=str(other)) as worker, pytest.raises(ZerotagError, match="another model"):
        worker.do(0)
    with pytest.raises(ZerotagError, match=r"^the plan is for cpu, not for cuda:1"):
        Worker(plan, store, device="cuda:1")
    with Worker(plan, store) as worker, pytest.raises(ZerotagError, match=r"^there is no shard 3: the plan has 3"):
        worker.do(3)

    with Worker(plan, store) as worker:
        done = worker.do(0)
        lines[0].write_bytes(lines[0].read_bytes().replace(b"pump", b"lamp", 1))
        with pytest.raises(ZerotagError, match=r"0\.txt has changed since the plan was made"):
            worker.do(1)

    changed = replace(plan, options=plans.options(strict=True))
    with pytest.raises(ZerotagError, match=r"holds another plan; choose another folder or give --overwrite"):
        write_plan(store, changed, overwrite=False)
    write_plan(store, changed, overwrite=True)
    assert Markers(store, changed).done(0) is None
    assert not content(tmp_path / "out")  # nothing stale is left
    with Worker(plan, store) as worker, pytest.raises(ZerotagError, match="is another plan by now"):
        worker.do(0)  # by somebody who has read the plan before

    store.write("done/00000.json", json.dumps({**vars_of(done), "plan": plan.id}).encode())
    assert Markers(store, changed).done(0) is None

    text = store.read("plan.json").replace(b'"version": "', b'"version": "9.')
    store.write("plan.json", text)
    with pytest.raises(ZerotagError, match=r"was made by zerotag 9\..*: use the same version"):
        read_plan(store)


def vars_of(done: Done) -> dict[str, object]:
    return {name: getattr(done, name) for name in done.__slots__}


@pytest.mark.parametrize("damage", ["cut", "flip", "gone"])
def test_a_damaged_output_is_not_merged(tmp_path: Path, model: Path, lines: list[Path], damage: str) -> None:
    plan = plans.plan(model, lines, tmp_path / "out", 3)
    store = LocalStore(tmp_path / "out")
    with Worker(plan, store) as worker:
        do_all(worker, lambda _: None)
        place = tmp_path / "out" / "labels" / "00001.jsonl"
        intact = place.read_bytes()
        if damage == "gone":
            place.unlink()
        else:
            place.write_bytes(intact[:-1] if damage == "cut" else intact[:-2] + b"?\n")
        complaint = "00001.jsonl has changed" if damage == "flip" else "shard 1 of .* not done"
        with pytest.raises(ZerotagError, match=complaint):
            merge(plan, store, tmp_path / "merged")
        assert not (tmp_path / "merged").exists()
        worker.do(1, again=damage == "flip")
        assert place.read_bytes() == intact


def test_planning_again_changes_nothing(tmp_path: Path, model: Path, lines: list[Path]) -> None:
    plan = plans.plan(model, lines, tmp_path / "out", 3)
    with Worker(plan, LocalStore(tmp_path / "out")) as worker:
        worker.do(0)
    plans.plan(model, lines, tmp_path / "out", 3)
    assert Markers(store_at(str(tmp_path / "out")), plan).done(0)


def test_how_far_a_plan_is(tmp_path: Path, model: Path, lines: list[Path]) -> None:
    plan: Plan = plans.plan(model, lines, tmp_path / "out", 5)
    store = LocalStore(tmp_path / "out")
    markers = Markers(store, plan)
    with Worker(plan, store) as worker:
        done = worker.do(0)
    now = 2_000_000_000.0
    alive = Running(plan=plan.id, worker="a:1", at=now, share=0.5, sentences_per_second=7.0, bytes_per_second=10.0)
    markers.put(1, alive)
    markers.put(2, replace(alive, at=now - 1e9))
    markers.put(3, Failed(plan=plan.id, worker="b:2", error="why"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("zerotag.bulk.shards.markers.time.time", lambda: now + 10)
        status = status_of(plan, markers)
    sizes = [shard.bytes for shard in plan.shards]
    assert ([*status.done], [*status.running], [*status.stale], [*status.failed]) == ([0], [1], [2], [3])
    assert status.waiting == [4]
    assert status.share == pytest.approx((sizes[0] + sizes[1] / 2) / sum(sizes))
    assert status.seconds_left == pytest.approx((sum(sizes) - sizes[0] - sizes[1] / 2) / 10)
    assert (status.counts.sentences, status.sentences_per_second) == (done.sentences, 7.0)
