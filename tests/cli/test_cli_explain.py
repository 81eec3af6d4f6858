"""`zerotag explain`: rows of models and methods, in the terminal and in files."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import tiny
import toy
from commands import CommandLine
from zerotag.config import ModelConfig, TrainConfig
from zerotag.labeller import WordLabeller, load
from zerotag.training.recipe import train
from zerotag.types import Rule

TEXT = "The pump may leak."


@pytest.fixture(scope="session")
def classifier(tmp_path_factory: pytest.TempPathFactory, encoder: Path) -> Path:
    folder = tmp_path_factory.mktemp("models") / "classifier"
    config = ModelConfig(encoder=str(encoder), depth=1, head="cls")
    train(toy.corpus(40), model=config, training=TrainConfig(epochs=1, learning_rate=5e-3)).save_pretrained(folder)
    return folder


def explained(zerotag: CommandLine, out: Path, *arguments: object) -> Any:
    zerotag.succeeds("explain", *arguments, "--out", out)
    return json.loads(out.read_text())


def test_the_terminal_shows_what_label_says(zerotag: CommandLine, model: Path) -> None:
    shown = zerotag.succeeds("explain", model, TEXT).splitlines()
    (result,) = load(model).label([TEXT])
    scores = [f"[{word.score:.2f}]" if word.labels else f"{word.score:.2f}" for word in result.words]
    assert shown[0] == "hedge"
    assert shown[2].split() == ["The", "pump", "may", "leak", "."]
    assert shown[3].split() == ["native", *scores]
    assert "[" in shown[3]


def test_models_and_methods_are_rows(zerotag: CommandLine, model: Path, classifier: Path, tmp_path: Path) -> None:
    methods = ["--method", "native", "--method", "occlusion"]
    found = explained(zerotag, tmp_path / "a.json", model, classifier, TEXT, *methods)
    rows = found["labels"]["hedge"]
    assert [row["name"] for row in rows] == ["hedges native", "hedges occlusion", "classifier occlusion"]
    native, occlusion, _ = rows
    labeller = load(model)
    (labelled,) = labeller.label([TEXT])
    assert native["scores"] == pytest.approx([word.score for word in labelled.words], abs=1e-6)
    assert native["positive"] == [bool(word.labels) for word in labelled.words]
    assert native["threshold"] == labeller.rules[0].word_threshold
    assert (occlusion["threshold"], occlusion["positive"]) == (None, [])
    assert [text["text"] for text in found["words"]] == ["The", "pump", "may", "leak", "."]


def test_models_of_one_name_are_told_apart(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        WordLabeller.from_pretrained(model).save_pretrained(tmp_path / name / "model")
    rows = explained(zerotag, tmp_path / "x.json", tmp_path / "a" / "model", tmp_path / "b" / "model", TEXT)
    assert [row["name"] for row in rows["labels"]["hedge"]] == ["a/model", "b/model"]


def test_of_several_models_the_one_that_cannot_do_it_is_named(
    zerotag: CommandLine, model: Path, classifier: Path
) -> None:
    line = zerotag.fails("explain", classifier, model, TEXT, "--method", "heads:9.9")
    assert line.startswith(f"{classifier.name}: there is no head 9.9; this model has 1.1 to ")
    assert zerotag.fails("explain", model, TEXT, "--method", "heads:9.9").startswith("there is no head 9.9")


def test_words_are_decided_by_the_models_rule(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    strict = tmp_path / "strict"
    labeller = WordLabeller.from_pretrained(model)
    *_, second, highest = sorted(word.score for word in labeller.label([TEXT])[0].words)
    labeller.with_rules([Rule(word_threshold=(second + highest) / 2)]).save_pretrained(strict)
    (row,) = explained(zerotag, tmp_path / "x.json", strict, TEXT)["labels"]["hedge"]
    assert row["positive"] == [score == max(row["scores"]) for score in row["scores"]]


def test_a_panel_for_each_label_or_for_those_asked_for(zerotag: CommandLine, tmp_path: Path) -> None:
    tiny.labeller(labels=("hedge", "fault", "wet")).save_pretrained(tmp_path / "three")
    everything = explained(zerotag, tmp_path / "a.json", tmp_path / "three", TEXT)["labels"]
    assert list(everything) == ["hedge", "fault", "wet"]
    some = explained(zerotag, tmp_path / "b.json", tmp_path / "three", TEXT, "--label", "wet", "--label", "hedge")
    assert some["labels"] == {"wet": everything["wet"], "hedge": everything["hedge"]}
    message = zerotag.fails("explain", tmp_path / "three", TEXT, "--label", "dry")
    assert message == "there is no label 'dry'; this model has: hedge, fault, wet"


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html"])
def test_pictures(zerotag: CommandLine, model: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"picture{suffix}"
    assert zerotag.succeeds("explain", model, TEXT, "--out", out) == ""
    content = out.read_bytes()
    if suffix == ".svg":
        assert len(ET.fromstring(content).findall("{http://www.w3.org/2000/svg}rect")) == 6
    assert content.startswith({".svg": b"<svg", ".png": b"\x89PNG", ".html": b"<!DOCTYPE html>"}[suffix])
    assert zerotag.fails("explain", model, TEXT, "--out", out).endswith(
        "exists; choose another name or give --overwrite"
    )
    zerotag.succeeds("explain", model, TEXT, "--out", out, "--overwrite")
    assert out.read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["MODEL", ""], "there is no word in the text: give a sentence"),
        (["MODEL", "MODEL"], "MODEL is a model folder; the text to explain comes after it, in quotation marks"),
        (["MODEL", TEXT, "--out", "x.gif"], "x.gif does not end in .png, .svg, .html, .json: choose another name"),
        (["MODEL", TEXT, "--method", "heads"], "method 'heads' does not say which head"),
        (["CLASSIFIER", TEXT], "this model is a plain sentence classifier"),
        (["none", TEXT], "none is not a folder"),
        ([TEXT], "Missing argument 'MODEL_DIR...'"),
    ],
)
def test_mistakes(zerotag: CommandLine, model: Path, classifier: Path, arguments: list[str], complaint: str) -> None:
    places = {"MODEL": str(model), "CLASSIFIER": str(classifier)}
    message = zerotag.fails("explain", *(places.get(argument, argument) for argument in arguments))
    assert message.startswith(complaint.replace("MODEL is", f"{model} is"))


def test_a_text_may_be_longer_than_any_file_name(zerotag: CommandLine, model: Path) -> None:
    shown = zerotag.succeeds("explain", model, " ".join([TEXT] * 20))
    assert shown.count("leak") == 20
