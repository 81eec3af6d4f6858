"""`--method` and `--threshold`: other ways to score and to decide, from `label` and `evaluate` alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import CommandLine

TEXT = "the pump may leak , perhaps .\n"


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
    nothing = json.loads(zerotag.succeeds("label", model, "--threshold", "1.1", stdin=TEXT))
    assert nothing["spans"] == []
    assert nothing["label"] == "hedge"  # the sentence is decided as before
    assert "word threshold 0.25 (given)" in zerotag.succeeds("evaluate", model, gold_file, "--threshold", "0.25")


def test_unknown_methods_are_refused(zerotag: CommandLine, model: Path) -> None:
    assert zerotag.fails("label", model, "--method", "magic", stdin=TEXT).startswith(
        "unknown method 'magic'; there are"
    )
    assert "write heads:LAYER.HEAD" in zerotag.fails("label", model, "--method", "heads", stdin=TEXT)
