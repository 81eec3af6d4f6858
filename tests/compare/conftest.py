"""A tiny encoder that experiments can name, and a small experiment on the smoke corpus."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import tiny

SMOKE = Path(__file__).parents[2] / "experiments"

SMALL = """
title = "Small"
corpora = ["smoke-corpus"]
seeds = [1]
reference = "Soft attention"

[model]
encoder = "tiny"
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


@pytest.fixture(scope="session")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an encoder called `tiny`, made once: its tokenizer is not the same each time."""
    folder = tmp_path_factory.mktemp("encoders")
    tiny.encoder_folder(folder / "tiny")
    return folder


@pytest.fixture
def small(tmp_path: Path, encoders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The TOML of a small experiment, in a folder with its corpus."""
    monkeypatch.setenv("ZEROTAG_ENCODERS", str(encoders))
    shutil.copytree(SMOKE / "smoke-corpus", tmp_path / "smoke-corpus")
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path
