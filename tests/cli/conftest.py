"""A tiny encoder on disk, a model trained on it, and the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
import toy
from commands import CommandLine
from zerotag.config import ModelConfig, TrainConfig
from zerotag.training.recipe import train


@pytest.fixture
def zerotag(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, encoder: Path) -> Path:
    """A model that finds the hedges of the toy corpus."""
    folder = tmp_path_factory.mktemp("models") / "hedges"
    labeller = train(
        toy.corpus(120),
        model=ModelConfig(encoder=str(encoder), depth=1),
        training=TrainConfig(epochs=5, batch_size=8, learning_rate=5e-3),
    )
    labeller.save_pretrained(folder)
    return folder


@pytest.fixture
def gold_file(tmp_path: Path) -> Path:
    return toy.write_tsv(tmp_path / "gold.tsv", toy.gold(30, seed=1))
