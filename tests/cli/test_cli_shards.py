"""`zerotag label` in shards: a plan, workers that may be killed at any moment, and one file of all in the end."""

from __future__ import annotations

import random
import signal
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

import plans
from commands import CommandLine, Started
from moments import after_calls, die_after
from zerotag.bulk import blocks
from zerotag.bulk.journal import Unfinished

ROUNDS = 3
MANY = 36


def die_at_random() -> None:
    """The end comes in one of the first shards, so that two workers of each round leave some of MANY to the next."""
    mock.patch.object(blocks, "_SMALLEST_STRIDE", 1 << 9).start()
    mock.patch.object(blocks, "_STRIDE", 0).start()
    after_calls(Unfinished, "commit", random.randint(1, 3), partial(die_after, random.uniform(0, 0.03)))


@pytest.fixture(autouse=True)
def in_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_SMALLEST_STRIDE", 1 << 9)
    monkeypatch.setattr(blocks, "_STRIDE", 0)


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    return plans.write_lines(tmp_path / "lines.txt", 1_000)


@pytest.fixture
def planned(tmp_path: Path, model: Path, lines: Path, zerotag: CommandLine) -> Path:
    zerotag.succeeds("label", model, lines, "--out", tmp_path / "out", "--shards", 9, "--source", "--device", "cpu")
    return tmp_path / "out" / "plan.json"


def test_from_a_plan_to_one_file(tmp_path: Path, model: Path, lines: Path, planned: Path, zerotag: CommandLine) -> None:
    zerotag.succeeds("label", model, lines, "--out", tmp_path / "single.jsonl", "--source", "--device", "cpu")
    zerotag.succeeds("label", "--plan", planned, "--shard", 4)
    again = zerotag("label", "--plan", planned, "--shard", 4)
    assert again.err.startswith("shard 4: was done before, ")
    status = zerotag.succeeds("label", "--plan", planned, "--status")
    assert status.startswith("1 done · 8 waiting\n10.5 %")
    assert "shard 0 and 7 others" in zerotag.fails("label", "--plan", planned, "--merge", "--out", tmp_path / "all")
    outcome = zerotag("label", "--plan", planned)
    assert outcome.err.endswith("all 9 shards are done\n")
    assert zerotag.succeeds("label", "--plan", planned, "--status").startswith("9 done\n100.0 % of the bytes")
    zerotag.succeeds("label", "--plan", planned, "--merge", "--out", tmp_path / "all.jsonl")
    for ending in ("", ".rejected.jsonl"):
        merged, single = (tmp_path / f"{name}.jsonl{ending}" for name in ("all", "single"))
        assert merged.read_bytes() == single.read_bytes()


def test_workers_that_are_killed_at_random(tmp_path: Path, model: Path, lines: Path, zerotag: CommandLine) -> None:
    zerotag.succeeds("label", model, lines, "--out", tmp_path / "single.jsonl", "--source", "--device", "cpu")
    zerotag.succeeds("label", model, lines, "--out", tmp_path / "out", "--shards", MANY, "--source", "--device", "cpu")
    planned = tmp_path / "out" / "plan.json"
    killed = 0
    for number in range(ROUNDS):
        pair = [Started(["label", "--plan", planned], die_at_random, tmp_path / f"{number}.{k}.log") for k in range(2)]
        codes = [one.outcome().code for one in pair]
        assert set(codes) <= {0, -signal.SIGKILL}
        killed += sum(code != 0 for code in codes)
    assert killed > ROUNDS
    zerotag.succeeds("label", "--plan", planned)
    zerotag.succeeds("label", "--plan", planned, "--merge", "--out", tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl").read_bytes() == (tmp_path / "single.jsonl").read_bytes()


def test_what_makes_no_sense(tmp_path: Path, model: Path, lines: Path, planned: Path, zerotag: CommandLine) -> None:
    out = tmp_path / "other"
    for arguments, complaint in [
        (["--plan", planned, "--shard", 9], "there is no shard 9: the plan has 9, from 0 on"),
        (["--plan", planned, "--shard", 1, "--status"], "--shard, --status and --merge go one at a time"),
        (
            ["--plan", planned, "--merge"],
            "--merge and --out FILE go together: the shards are in the folder of the plan",
        ),
        (
            ["--plan", planned, "--method", "random"],
            "--method is not for --plan, which has inputs and options of its own",
        ),
        (["--plan", planned, "--device", "cuda"], "device 'cuda' cannot be used here; there are: cpu"),
        (
            ["--plan", out, "--status"],
            f"{out}/plan.json: no such plan; zerotag label MODEL INPUT... --out DIR --shards N makes one",
        ),
        ([model, lines, "--status"], "--shard, --status and --merge need --plan FILE; --shards N makes a plan"),
        ([model, "--shards", 3, "--out", out], "--shards needs files: a pipe cannot be read in several places"),
        ([model, lines, "--shards", 3], "--shards needs --out FOLDER, where the plan and the shards will be"),
        (
            [model, lines, "--shards", 3, "--out", out, "--device", "gpu"],
            "device 'gpu' is of no kind that a plan can be for: cpu, cuda, mps",
        ),
        (
            [model, lines, "--shards", 3, "--out", out, "--format", "html"],
            "shards cannot be written as html; they can as jsonl, tsv and parquet",
        ),
        (
            [model, tmp_path / "*.none", "--shards", 3, "--out", out],
            f"{tmp_path}/*.none: no such file, nor any that fits the pattern",
        ),
        (
            [model, lines, "--shards", 3, "--out", planned.parent],
            f"{planned.parent} holds another plan; choose another folder or give --overwrite",
        ),
        ([], "give a MODEL_DIR, and files to label; or --plan FILE to work on a plan"),
    ]:
        assert zerotag.fails("label", *arguments) == complaint
    assert not out.exists()


def test_a_pattern_stands_for_the_files_that_fit_it(tmp_path: Path, model: Path, zerotag: CommandLine) -> None:
    for name in ("b.txt", "a.txt", "c.other"):
        plans.write_lines(tmp_path / name, 3)
    records = zerotag.succeeds("label", model, tmp_path / "*.txt", "--format", "jsonl")
    sources = [line.partition('"line"')[0] for line in records.splitlines()]
    assert sorted(set(sources)) == [f'{{"source": "{tmp_path}/{name}.txt", ' for name in "ab"]
    assert sources == sorted(sources)
