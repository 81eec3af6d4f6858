"""`--method` and `--threshold`: other ways to score and to decide, from `label` and `evaluate` alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import CommandLine
from zerotag.labeller import WordLabeller, load
from zerotag.types import Rule

TEXT = "the pump may leak , perhaps .\n"


@pytest.fixture
def calibrated(model: Path, tmp_path: Path) -> Path:
    """The model with a word threshold of its own."""
    rule = Rule(word_threshold=0.93, origin="sentence labels of the development set")
    folder = tmp_path / "calibrated"
    labeller = load(model).with_rules([rule])
    assert isinstance(labeller, WordLabeller)
    labeller.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    "method", ["random", "lime", "heads:1.2", "gradient-x-input", "integrated-gradients", "occlusion"]
)
def test_every_method_scores_every_word(zerotag: CommandLine, model: Path, gold_file: Path, method: str) -> None:
    own = json.loads(zerotag.succeeds("label", model, stdin=TEXT))
    other = json.loads(zerotag.succeeds("label", model, "--method", method, stdin=TEXT))
    assert [word["text"] for word in other["words"]] == [word["text"] for word in own["words"]]
    assert [word["score"] for word in other["words"]] != [word["score"] for word in own["words"]]
    if method != "lime":  # 30 sentences of it take too long here
        assert f", {method.partition(':')[0]}" in zerotag.succeeds("evaluate", model, gold_file, "--method", method)


def test_occlusion_finds_the_cues(zerotag: CommandLine, model: Path) -> None:
    words = json.loads(zerotag.succeeds("label", model, "--method", "occlusion", stdin="the pump may leak .\n"))[
        "words"
    ]
    assert max(words, key=lambda word: float(word["score"]))["text"] == "may"


def test_a_threshold_decides_words_and_is_reported(zerotag: CommandLine, model: Path, gold_file: Path) -> None:
    everything = json.loads(zerotag.succeeds("label", model, "--threshold", "0", stdin=TEXT))
    assert all(word["label"] == "hedge" for word in everything["words"])
    nothing = json.loads(zerotag.succeeds("label", model, "--threshold", "1", stdin=TEXT))
    assert nothing["spans"] == []
    assert nothing["label"] == "hedge"  # the sentence is decided as before
    assert "word threshold 0.25 (given)" in zerotag.succeeds("evaluate", model, gold_file, "--threshold", "0.25")


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1.1", "80", "-5"])
def test_a_threshold_is_a_probability(zerotag: CommandLine, model: Path, gold_file: Path, number: str) -> None:
    complaint = f"the threshold is {float(number)}; it must be a number from 0 to 1, as in 0.5"
    assert zerotag.fails("label", model, "--threshold", number, stdin=TEXT) == complaint
    assert zerotag.fails("evaluate", model, gold_file, "--threshold", number) == complaint


def test_a_model_decides_by_its_own_threshold_only_what_it_scores_itself(
    zerotag: CommandLine, calibrated: Path, gold_file: Path
) -> None:
    assert "word threshold 0.93 (sentence labels" in zerotag.succeeds("evaluate", calibrated, gold_file)
    of_occlusion = zerotag.succeeds("evaluate", calibrated, gold_file, "--method", "occlusion")
    assert "word threshold 0.50 (fixed, as for every method but the model's own)" in of_occlusion
    outcome = zerotag("label", calibrated, "--method", "occlusion", stdin="the pump may leak .\n")
    assert "occlusion: words were marked from 0.5 on" in outcome.err
    assert [word["label"] for word in json.loads(outcome.out)["words"]] == [None, None, "hedge", None, None]
    given = zerotag("label", calibrated, "--method", "occlusion", "--threshold", "0.2", stdin=TEXT)
    assert "words were marked" not in given.err


def test_random_scores_say_nothing_of_sentences(zerotag: CommandLine, model: Path, gold_file: Path) -> None:
    lines = zerotag.succeeds("evaluate", model, gold_file, "--method", "random").splitlines()
    (sentences,) = (line for line in lines if "hedge: sentences" in line)
    assert sentences.split("sentences")[1].split() == ["–", "–", "–"]


def test_unknown_methods_are_refused(zerotag: CommandLine, model: Path) -> None:
    assert zerotag.fails("label", model, "--method", "magic", stdin=TEXT).startswith(
        "unknown method 'magic'; there are"
    )
    assert "write heads:LAYER.HEAD" in zerotag.fails("label", model, "--method", "heads", stdin=TEXT)
