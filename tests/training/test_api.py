"""`zerotag.train`, as people call it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import torch

import tiny
import toy
import zerotag
from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.text.segmentation import split
from zerotag.training import recipe
from zerotag.training.loop import Progress
from zerotag.types import CorrectedExample

QUICK = TrainConfig(epochs=1, teacher_epochs=0, teachers=1)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))


def test_the_same_model_however_the_sentences_are_held(encoder: Path, tmp_path: Path) -> None:
    corpus = toy.corpus(30)
    texts = [one.sentence for one in corpus.examples]
    labels = [one.labels[0] for one in corpus.examples]
    path = toy.write_tsv(tmp_path / "train.tsv", toy.gold(30))
    expected = recipe.train(corpus, model=ModelConfig(encoder=str(encoder)), training=QUICK)
    for labeller in (
        zerotag.train(corpus, encoder=encoder, training=QUICK),
        zerotag.train(texts, labels, label="hedge", encoder=encoder, training=QUICK),
        zerotag.train([*zip(texts, labels, strict=True)], label="hedge", encoder=str(encoder), training=QUICK),
        zerotag.train(path, encoder=encoder, training=QUICK),
    ):
        assert labeller.label("the pump may leak") == expected.label("the pump may leak")
        assert labeller.rules == expected.rules


def test_development_sentences_of_any_kind(encoder: Path) -> None:
    dev = [(one.sentence, one.labels[0]) for one in toy.corpus(12, seed=3).examples]
    labeller = zerotag.train(toy.corpus(30), dev=dev, label="hedge", encoder=encoder, training=QUICK)
    assert labeller.manifest.sentences == {"train": 30, "dev": 12}


def test_progress_goes_to_whoever_asks(encoder: Path, caplog: pytest.LogCaptureFixture) -> None:
    told: list[Progress] = []
    with caplog.at_level(logging.INFO, logger="zerotag"):
        zerotag.train(toy.corpus(30), encoder=encoder, training=QUICK, progress=told.append)
        assert told[-1].epochs_done == 1
        zerotag.train(toy.corpus(30), encoder=encoder, training=QUICK, progress=False)
        assert not any(message.startswith("epoch") for message in caplog.messages)
        zerotag.train(toy.corpus(30), encoder=encoder, training=QUICK)
    told_by_log = [message for message in caplog.messages if message.startswith("epoch")]
    assert told_by_log[-1].startswith("epoch 1/1 · loss ")


def test_two_encoders_are_refused(encoder: Path) -> None:
    with pytest.raises(ZerotagError, match=r"^encoder is .* and model has 'other': name one of them$"):
        zerotag.train(toy.corpus(30), encoder=encoder, model=ModelConfig(encoder="other"))


def test_a_labeller_goes_on_from_an_earlier_one(tmp_path: Path) -> None:
    first = tiny.labeller()
    first.save_pretrained(tmp_path / "first")
    sentence = split("the pump may fail in winter")
    words = [CorrectedExample(sentence, (True,), ((False,), (False,), (True,), (False,), (False,), (False,)))] * 4
    expected = first.update(words)
    for start in (first, tmp_path / "first", str(tmp_path / "first")):
        found = zerotag.train(None, start=start, words=words, progress=False)
        assert found.manifest.word_labels == {"network": 4}
        assert found.rules == expected.rules
        weights = [one.network.state_dict()["head.attention_score.weight"] for one in (found, expected)]
        assert torch.equal(*weights)
    assert first.manifest.word_labels == {}


def test_going_on_needs_labelled_words_and_no_development_sentences() -> None:
    with pytest.raises(ZerotagError, match="start goes on from a labeller with labelled words"):
        zerotag.train(None, start=tiny.labeller())
    with pytest.raises(ZerotagError, match=r"^dev: with start, labelled words that are held out decide"):
        zerotag.train(None, start=tiny.labeller(), words="words.jsonl", dev="dev.tsv")
    with pytest.raises(TypeError, match="data is of the type NoneType"):
        zerotag.train(None)
