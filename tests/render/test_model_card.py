"""Model cards: front matter that parses, what is known of the model, and nothing that breaks a table."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import ModelCard

import tiny
import toy
from zerotag.config import ModelConfig, TrainConfig
from zerotag.io.model_folder import Manifest
from zerotag.labeller import WordLabeller, load
from zerotag.render.model_card import model_card
from zerotag.training.recipe import train
from zerotag.types import ReliabilityBin, Rule


def manifest(encoder: str = "tiny", labels: tuple[str, ...] = ("hedge",)) -> Manifest:
    return replace(tiny.labeller(labels=labels).manifest, model=ModelConfig(encoder=encoder, depth=2))


@pytest.mark.parametrize(
    ("encoder", "base"),
    [
        ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
        ("somebody/encoder", "somebody/encoder"),
        ("/a/folder", None),
        ("roberta-base", None),
    ],
)
def test_the_front_matter(encoder: str, base: str | None) -> None:
    data = vars(ModelCard(model_card(manifest(encoder), "me/hedges")).data)
    assert (data["library_name"], data["pipeline_tag"]) == ("zerotag", "token-classification")
    assert data.get("base_model") == base


def test_a_trained_model_shows_how_it_was_calibrated(tmp_path: Path) -> None:
    encoder = tiny.encoder_folder(tmp_path / "encoder")
    settings = TrainConfig(teacher_epochs=0, epochs=1, batch_size=8)
    dev = toy.corpus(40, seed=1)
    labeller = train(toy.corpus(60), dev, model=ModelConfig(encoder=str(encoder), depth=1), training=settings)
    labeller.save_pretrained(tmp_path / "model")
    bins = labeller.manifest.reliability["hedge"]
    positive = sum(example.labels[0] for example in dev.examples)
    assert sum(one.size for one in bins) == 40
    assert sum(one.size * one.positive for one in bins) == pytest.approx(positive)
    scores = [one.score for one in labeller.label([example.sentence for example in dev.examples])]
    assert sum(one.size * one.score for one in bins) == pytest.approx(sum(scores), rel=1e-5)

    card = (tmp_path / "model" / "README.md").read_text()
    assert "![How many sentences with a score have the label](calibration.svg)" in card
    assert f"| dev, with hedge | {positive} of 40 |" in card
    assert card.count("\n| hedge | 0.") == len(bins) + 1  # and the thresholds
    ET.parse(tmp_path / "model" / "calibration.svg")
    assert load(tmp_path / "model").manifest.reliability == labeller.manifest.reliability

    WordLabeller.from_pretrained(tmp_path / "model").with_rules([Rule()]).save_pretrained(tmp_path / "model")
    assert sorted(file.name for file in (tmp_path / "model").iterdir())[:2] == ["README.md", "calibration.svg"]


def test_names_do_not_break_tables() -> None:
    strange = replace(
        manifest(labels=("a|b\nc $x",)),
        reliability={"a|b\nc $x": (ReliabilityBin(0.25, 0.5, 3),)},
        scores={"dev sentence F1": 0.5},
    )
    card = model_card(strange, "me/hedges")
    assert "| a\\|b c $x | 0.25 | 50 % | 3 |\n" in card
    for table in re.findall(r"(?:^\|.*\n)+", card, flags=re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1, table
    assert 'zerotag.load("me/hedges")' in card
