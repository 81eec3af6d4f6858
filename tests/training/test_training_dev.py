"""Training: the development set, and what it says of an epoch."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

import tiny
import toy
from zerotag.config import ModelConfig, TrainConfig
from zerotag.modeling.network import Network
from zerotag.presets import PLAIN
from zerotag.text.alignment import Aligner
from zerotag.training.loop import EncodedCorpus, on_dev
from zerotag.training.recipe import train
from zerotag.types import Corpus, Example, Rule


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelConfig:
    return ModelConfig(encoder=str(tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))), depth=1)


QUICK = replace(PLAIN, epochs=2, batch_size=16, learning_rate=5e-3)


def dev_sets(monkeypatch: pytest.MonkeyPatch) -> list[list[float]]:
    """The labels that epochs are judged by."""
    seen: list[list[float]] = []

    def on_dev(_: Network, __: Aligner, dev_set: EncodedCorpus) -> tuple[float, float]:
        seen.append(dev_set.labels[:, 0].tolist())
        return 0.5, 0.5

    monkeypatch.setattr("zerotag.training.loop.on_dev", on_dev)
    return seen


def balanced(count: int) -> Corpus[Example]:
    corpus = toy.corpus(4 * count)
    examples = [[e for e in corpus.examples if e.labels == (kind,)][: count // 2] for kind in (True, False)]
    return Corpus(corpus.label_names, (*examples[0], *examples[1]))


def test_a_tenth_of_each_kind_is_split_off_for_development(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = dev_sets(monkeypatch)
    labeller = train(balanced(40), model=model, training=QUICK)
    assert labeller.manifest.sentences == {"train": 36, "dev": 4}
    assert [sorted(labels) for labels in seen] == [[0.0, 0.0, 1.0, 1.0]] * 2


def test_a_given_development_set_is_used_and_nothing_split_off(
    model: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = toy.corpus(7, seed=5)
    seen = dev_sets(monkeypatch)
    labeller = train(toy.corpus(40), dev, model=model, training=QUICK)
    assert labeller.manifest.sentences == {"train": 40, "dev": 7}
    assert seen == [[float(example.labels[0]) for example in dev.examples]] * 2


def test_development_scores_by_hand(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two labels; sentence scores 0.9, 0.6, 0.2 and 0.5, 0.4, 0.3 for gold 1, 0, 1 and 1, 1, 0."""
    from zerotag.inference.predictor import Prediction

    gold = [(True, True), (False, True), (True, False)]
    scores = [[0.9, 0.5], [0.6, 0.4], [0.2, 0.3]]
    sentence = toy.corpus(1).examples[0].sentence
    dev = Corpus(("a", "b"), tuple(Example(sentence, labels) for labels in gold))
    corpus = Corpus(("a", "b"), toy.corpus(20, labels=("hedge", "fault")).examples)
    monkeypatch.setattr(
        "zerotag.training.loop.predict", lambda *_: [Prediction(torch.tensor(s).numpy(), None) for s in scores]
    )
    found: list[tuple[float, float]] = []

    def watched(network: Network, aligner: Aligner, dev_set: EncodedCorpus) -> tuple[float, float]:
        found.append(on_dev(network, aligner, dev_set))
        return found[-1]

    monkeypatch.setattr("zerotag.training.loop.on_dev", watched)
    train(corpus, dev, model=model, training=replace(PLAIN, epochs=1))
    ((f1, cross_entropy),) = found
    # a: one hit, one false alarm, one miss: 1/2; b: one hit, one miss: 2/3.
    assert f1 == pytest.approx((1 / 2 + 2 / 3) / 2)
    probabilities = [0.9, 0.4, 0.2, 0.5, 0.4, 0.7]  # of what is true
    assert cross_entropy == pytest.approx(-sum(map(math.log, probabilities)) / 6, rel=1e-6)


def test_the_f1_that_is_told_is_that_of_the_models_decisions(
    model: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the threshold that sentences have given: here, one that takes them all."""
    monkeypatch.setattr(
        "zerotag.training.recipe.rule_from_sentence_labels", lambda *_: Rule(0.5, 0.0, "sentence labels")
    )
    dev = toy.corpus(30, seed=5)
    labeller = train(toy.corpus(40), dev, model=model, training=TrainConfig(epochs=1, teacher_epochs=1))
    positive = sum(example.labels[0] for example in dev.examples)
    assert labeller.manifest.scores["dev sentence F1"] == pytest.approx(2 * positive / (positive + 30))
