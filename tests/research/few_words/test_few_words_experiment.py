"""The learning curves in miniature, in several pieces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tiny
import toy
import zerotag
from zerotag.research.compare.provenance import commit_of
from zerotag.research.few_words import draws
from zerotag.research.few_words.__main__ import main
from zerotag.research.few_words.cells import METHODS
from zerotag.research.few_words.flips import flipped
from zerotag.research.few_words.plan import labelled, read_plan
from zerotag.research.few_words.results import SERIES
from zerotag.types import Corpus

PLAN = """
encoder = "tiny-encoder"
teachers = 1
seeds = [1]
sentences = [12]
flips = [0.05, 0.1]

[corpora]
toy = { train = 60 }
"""


def test_pieces_make_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.encoder_folder(tmp_path / "tiny-encoder")
    (tmp_path / "toy").mkdir()
    for seed, (part, count) in enumerate({"train": 80, "dev": 24, "test": 24}.items()):
        toy.write_tsv(tmp_path / "toy" / f"{part}.tsv", toy.gold(count, seed=seed))
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    out = tmp_path / "out"
    monkeypatch.setattr(draws, "DRAWS", 2)
    monkeypatch.setattr(draws, "CHOICES", 2)
    main(plan, data=tmp_path, out=out, encoders=tmp_path, seconds=0)
    assert not list(out.glob("*.npz"))
    main(plan, data=tmp_path, out=out, encoders=tmp_path, only="*-zero-shot-*", seconds=600)
    assert [path.stem for path in out.glob("*.npz")] == ["toy-1-zero-shot-0"]
    rows = (out / "results.md").read_text().splitlines()
    assert [row.split(" | ")[0] for row in rows if row.startswith("| ")] == ["| word F1 / MAP", "| zero-shot"]
    main(plan, data=tmp_path, out=out, encoders=tmp_path, seconds=600)
    stored = sorted(path.stem for path in out.glob("*.npz"))
    assert stored == sorted(["toy-1-zero-shot-0", *(f"toy-1-{method}-12" for method in METHODS)])
    for name in stored:
        report = json.loads((out / f"{name}.json").read_text())
        scores = np.load(out / f"{name}.npz")
        assert scores["word_scores"].shape == (24 * 7, 1)
        assert report["word_labels"] == (0 if report["method"] == "zero-shot" else 12)
    tuning = json.loads((out / "toy-1-tuning.json").read_text())
    assert len(tuning["20"]) == 2
    suggested = json.loads((out / "toy-1-suggestions.json").read_text())["20"]
    assert suggested["interval"][0] <= suggested["gain"] <= suggested["interval"][1]
    for share, count in ((0.05, 3), (0.1, 6)):
        found = json.loads((out / f"toy-1-flips-{share}.json").read_text())
        assert found["flipped"] == count
        assert 0 <= found["suspects"] <= 1
    assert not list((out / "models").glob("*flips*"))
    made = json.loads((out / "results.json").read_text())["made"]
    assert made["commits"] == [str(commit_of(Path(zerotag.__file__).parent, Path("absent")))]
    assert made["from"] <= made["to"]
    rows = (out / "results.md").read_text().splitlines()
    assert sum(row.endswith(", 12 |") or ", 12 | " in row for row in rows) == len(METHODS)
    assert (out / "curves.svg").read_text().count("<polyline") == len(SERIES)
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.npz")}
    main(plan, data=tmp_path, out=out, encoders=tmp_path, seconds=600)
    assert {path: path.stat().st_mtime_ns for path in out.glob("*.npz")} == before


def test_draws_are_nested_and_half_positive() -> None:
    corpus = Corpus(("hedge",), toy.gold(60))
    few, more = labelled(corpus, 10, 1), labelled(corpus, 20, 1)
    assert sum(one.labels[0] for one in few) == 5
    assert {one.sentence for one in few} <= {one.sentence for one in more}
    assert len(labelled(corpus, 0, 1)) == 60


def test_flips_change_as_many_labels_as_they_say() -> None:
    corpus = toy.corpus(40)
    noisy, wrong = flipped(corpus, 0.1, 1)
    pairs = enumerate(zip(corpus.examples, noisy.examples, strict=True))
    assert {i for i, (one, other) in pairs if one.labels != other.labels} == wrong
    assert len(wrong) == 4


def test_the_committed_plan_can_be_read() -> None:
    plan = read_plan(Path(__file__).parents[3] / "experiments" / "few-words.toml")
    assert set(plan.corpora) == {"fce", "bea2019", "conll2010", "toxic", "sst", "movies"}
    assert plan.sentences == (20, 50, 200, 1000, 0)
