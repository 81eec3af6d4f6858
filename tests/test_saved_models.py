"""Model folders that version 0.1.0 of format 3 saved: they still load, and give the scores that they gave then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from zerotag.labeller import load
from zerotag.text.segmentation import as_sentence

FOLDERS = Path(__file__).parent / "saved_models"
SCORES = json.loads((FOLDERS / "scores.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCORES["models"])
def test_a_saved_model_scores_as_it_did_when_it_was_saved(name: str) -> None:
    labeller = load(FOLDERS / name, device="cpu")
    method = "occlusion" if name == "classifier" else "native"
    scored = labeller.score(map(as_sentence, SCORES["texts"]), method=method)
    for one, before in zip(scored, SCORES["models"][name], strict=True):
        np.testing.assert_allclose(one.sentence_scores, before["sentence"], atol=1e-5)
        np.testing.assert_allclose(one.word_scores, before["words"], atol=1e-5)


def test_every_saved_model_is_compared() -> None:
    assert {folder.name for folder in FOLDERS.iterdir() if folder.is_dir()} == {*SCORES["models"]}
