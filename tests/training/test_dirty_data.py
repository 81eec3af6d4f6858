"""Small, skewed and dirty data: each gives a sane model, and a warning in plain words where there is cause for one.

The sentences are the demo's; the lexical baseline learns them in a moment, and shares splitting, calibration and
warnings with the recipe, which is asked about the extremes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import tiny
import toy
import zerotag
from zerotag import demo
from zerotag.config import ModelConfig, TrainConfig
from zerotag.io import read_gold
from zerotag.labeller import WordLabeller
from zerotag.training.recipe import train
from zerotag.types import Corpus, Example, GoldExample

TRAIN, TEST = (read_gold(Path(demo.__file__).with_name(f"hedging.{part}.jsonl")) for part in ("train", "test"))
Labelled = tuple[str, bool]
POSITIVE, NEGATIVE = (
    [(one.sentence.text, has) for one in TRAIN.examples if one.labels[0] == has] for has in (True, False)
)


def flipped() -> list[Labelled]:
    """A fifth of the labels are wrong."""
    draw = random.Random(0)
    return [(text, label != (draw.random() < 0.2)) for text, label in (*POSITIVE, *NEGATIVE)]


DATA: dict[str, tuple[list[Labelled], list[str]]] = {
    "60 sentences": (POSITIVE[:30] + NEGATIVE[:30], ["60 sentences are few"]),
    "250 sentences": (POSITIVE[:125] + NEGATIVE[:125], []),
    "2 % positive": (
        POSITIVE[:5] + NEGATIVE[:245],
        ["'hedge' is rare: 5 of 250", "25 development sentences only 1 with"],
    ),
    "5 % positive": (POSITIVE[:12] + NEGATIVE[:238], ["'hedge' is rare: 12 of 250", "only 1 with 'hedge'"]),
    "98 % positive": (
        POSITIVE[:245] + NEGATIVE[:5],
        ["'hedge' is nearly everywhere: 5 of 250", "only 1 without 'hedge'"],
    ),
    "20 % wrong": (flipped(), []),
    "each four times": ((POSITIVE[:40] + NEGATIVE[:40]) * 4, ["80 sentences occur more than once"]),
    "contradictions": (
        POSITIVE[:100] + NEGATIVE[:100] + [(text, not label) for text, label in POSITIVE[:50]],
        ["50 sentences occur with different labels", "correct them, since they cancel each other out"],
    ),
    "one positive": (POSITIVE[:1] + NEGATIVE[:99], ["its thresholds are 0.5, as the development sentences"]),
}


def is_sane(labeller: WordLabeller, examples: Sequence[GoldExample] = TEST.examples) -> None:
    """Thresholds mean something, no more than half of all words are marked, and sentences can be labelled."""
    scored = list(labeller.score([one.sentence for one in examples]))
    words = np.concatenate([one.word_scores[:, 0] for one in scored])
    (rule,) = labeller.rules
    assert np.isfinite(words).all()
    assert 0 < rule.word_threshold < 1
    assert 0 < rule.sentence_threshold < 1
    assert rule.words(words).mean() <= 0.55, "half of the development words, and other text is a little otherwise"
    labeller.label(examples[0].sentence.text)


@pytest.mark.parametrize("name", DATA)
def test_a_sane_model_and_a_warning(name: str, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    data, warnings = DATA[name]
    random.Random(1).shuffle(data)
    texts, labels = zip(*data, strict=True)
    labeller = zerotag.train(list(texts), list(labels), label="hedge", preset="lexical", progress=False)
    is_sane(labeller)
    for warning in warnings:
        assert any(warning in message for message in caplog.messages), caplog.messages
    labeller.save_pretrained(tmp_path / "model")
    assert zerotag.load(tmp_path / "model").manifest.calibration == labeller.manifest.calibration


def test_labels_by_chance_are_said_to_mean_nothing(caplog: pytest.LogCaptureFixture) -> None:
    draw = random.Random(3)
    texts = [one.sentence.text for one in TRAIN.examples]
    labeller = zerotag.train(texts, [draw.random() < 0.5 for _ in texts], label="x", preset="lexical", progress=False)
    is_sane(labeller)
    assert any(message.startswith("sentences are told no better than by chance") for message in caplog.messages)


def test_more_labels_than_make_sense(caplog: pytest.LogCaptureFixture) -> None:
    texts = [text for text, _ in (*POSITIVE[:55], *NEGATIVE[:55])]
    topics = [f"topic {number % 10}" for number in range(len(texts))]
    zerotag.train(texts, topics, preset="lexical", progress=False)
    assert any("10 of 10 labels have fewer than 20 sentences each" in message for message in caplog.messages)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelConfig:
    return ModelConfig(encoder=str(tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))), depth=2)


@pytest.mark.parametrize("positive", [5, 245])
def test_the_recipe_on_skewed_data(model: ModelConfig, positive: int) -> None:
    kinds = {has: [one for one in toy.corpus(600).examples if one.labels[0] == has] for has in (True, False)}
    corpus: Corpus[Example] = Corpus(("hedge",), (*kinds[True][:positive], *kinds[False][: 250 - positive]))
    labeller = train(corpus, model=model, training=TrainConfig(epochs=1, teacher_epochs=1, learning_rate=5e-3))
    is_sane(labeller, toy.gold(100, seed=5))
