"""`zerotag tune`: thresholds from a few labelled sentences, saved in the model."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import toy
from commands import CommandLine
from zerotag.labeller import load

ORIGIN = "word labels of 20 sentences, with the one before as the prior"


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return toy.write_tsv(tmp_path / "few.tsv", toy.gold(20, seed=3))


def test_a_tuned_model_says_what_it_has_seen(zerotag: CommandLine, model: Path, few: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    shown = zerotag.succeeds("tune", model, few, "--out", out)
    assert re.search(rf"label hedge: word threshold 0\.\d+ -> 0\.\d+ \({ORIGIN}\)", shown)
    tuned, before = load(out), load(model)
    assert tuned.manifest.word_labels == {"thresholds": 20}
    assert tuned.rules[0].origin == ORIGIN
    assert tuned.rules[0].sentence_threshold == before.rules[0].sentence_threshold
    assert before.manifest.word_labels == {}
    assert "with word labels of 20 sentences" in (out / "README.md").read_text()
    assert "read no word label" in (model / "README.md").read_text()
    measured = zerotag.succeeds("evaluate", out, few)
    assert "not zero-shot: the model learnt from sentence labels, with word labels of 20 sentences" in measured
    assert "zero-shot" not in zerotag.succeeds("evaluate", model, few)


def test_without_out_it_is_saved_in_its_place(zerotag: CommandLine, model: Path, few: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(model, mine)
    (mine / "notes.txt").write_text("mine")
    zerotag.succeeds("tune", mine, few)
    assert load(mine).rules[0].origin == ORIGIN
    assert (mine / "notes.txt").read_text() == "mine"
    zerotag.succeeds("tune", mine, few)
    assert load(mine).manifest.supervision == "sentence labels, with word labels of 40 sentences (thresholds)"
    assert load(mine).label("the pump may leak .").scores == load(model).label("the pump may leak .").scores


def test_python_gives_the_same(zerotag: CommandLine, model: Path, few: Path, tmp_path: Path) -> None:
    zerotag.succeeds("tune", model, few, "--out", tmp_path / "tuned")
    assert load(tmp_path / "tuned").rules == load(model).tune(few).rules == load(model).tune([few]).rules


def test_results_that_were_corrected_tune(model: Path) -> None:
    labeller = load(model)
    result = labeller.label("the pump leaks in winter .")
    example = result.corrected({1: "hedge", 2: ["hedge"], 0: None})
    assert example.word_labels[:3] == ((False,), (True,), (True,))
    assert example.labels == (True,)
    assert labeller.tune([example]).manifest.word_labels == {"thresholds": 1}


def test_json_lines_as_label_writes_them_are_corrections(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    """With the spans that a person left or added."""
    source = tmp_path / "in.txt"
    source.write_text("the pump may leak .\nthe valve holds .\n")
    records = [json.loads(line) for line in zerotag.succeeds("label", model, source, "--format", "jsonl").splitlines()]
    records[1]["spans"] = [{"start": 4, "end": 9, "label": "hedge"}]
    todo = tmp_path / "done.jsonl"
    todo.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert load(model).tune(todo).manifest.word_labels == {"thresholds": 2}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,label\na pump,1\na valve,0\n", "no labels on words; give a file that has some"),
        ("word\tx\n", "unknown label 'x'"),
    ],
)
def test_what_is_of_no_use(zerotag: CommandLine, model: Path, tmp_path: Path, content: str, message: str) -> None:
    source = tmp_path / ("gold.csv" if "," in content else "gold.tsv")
    source.write_text(content)
    assert message in zerotag.fails("tune", model, source, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_no_positive_word(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    negative = [one for one in toy.gold(20) if not one.labels[0]]
    source = toy.write_tsv(tmp_path / "gold.tsv", negative)
    assert "there is no positive word among these" in zerotag.fails("tune", model, source, "--out", tmp_path / "out")


def test_only_examples_for_learning_from_words_are_taken(model: Path) -> None:
    with pytest.raises(TypeError, match="word labels are learnt from CorrectedExample, not GoldExample"):
        load(model).tune(toy.gold(5))
    with pytest.raises(TypeError, match="not Example"):
        load(model).tune(toy.corpus(5))


def test_another_method_is_told_its_options(zerotag: CommandLine, model: Path, few: Path) -> None:
    shown = zerotag.succeeds("tune", model, few, "--method", "heads")
    assert re.fullmatch(
        r"label hedge: --method heads:1\.[1-4] --threshold [\d.e-]+ is best for the word labels of 20 sentences\n",
        shown,
    )
    assert "are not saved" in zerotag.fails("tune", model, few, "--method", "occlusion", "--out", few.parent / "out")
