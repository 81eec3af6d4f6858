"""A small experiment on the corpus and the encoder of the smoke experiment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

SMOKE = Path(__file__).parents[3] / "experiments"

SMALL = """
title = "Small"
corpora = ["smoke-corpus"]
seeds = [1]
reference = "Soft attention"

[model]
encoder = "smoke-encoder"
depth = 1
window = 32

[training]
epochs = 2
learning_rate = 1e-3

[trainings.cls.model]
head = "cls"

[trainings.sa.model]
beta = 1

[[methods]]
name = "Random baseline"
scorer = "random"

[[methods]]
name = "Soft attention"
training = "sa"

[[methods]]
name = "Sentence classifier"
training = "cls"
scorer = "none"

[[methods]]
name = "Attention heads"
training = "cls"
scorer = "heads"
threshold = "dev-word-f1"

[[methods]]
name = "Occlusion"
training = "cls"
scorer = "occlusion"
threshold = "dev-word-f1"
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The TOML of a small experiment, in a folder with its corpus and encoder."""
    for name in ("smoke-corpus", "smoke-encoder"):
        shutil.copytree(SMOKE / name, tmp_path / name)
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path
