"""Training: what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import tiny
import toy
from zerotag.config import ModelConfig
from zerotag.errors import ZerotagError
from zerotag.training.recipe import train
from zerotag.types import Corpus, Example, GoldExample, Sentence


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelConfig:
    return ModelConfig(encoder=str(tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))), depth=1)


def test_word_labels_cannot_get_in(model: ModelConfig) -> None:
    gold: Any = Corpus(("hedge",), toy.gold(20))
    with pytest.raises(TypeError, match="training takes Example, which has no word labels, not GoldExample"):
        train(gold, model=model)
    with pytest.raises(TypeError, match="not GoldExample"):
        train(toy.corpus(20), gold, model=model)


def test_lists_are_no_corpus(model: ModelConfig) -> None:
    pairs: Any = [("It may rain.", 1)]
    for given in ((pairs,), (toy.corpus(20), pairs)):
        with pytest.raises(TypeError, match=r"training takes a Corpus, as zerotag\.read returns it, not list"):
            train(*given, model=model)


class Smuggler(Example):
    """Has a __dict__, and so a place for anything."""


def test_nor_can_they_be_smuggled_in(model: ModelConfig) -> None:
    examples = tuple(Smuggler(one.sentence, one.labels) for one in toy.corpus(20).examples)
    with pytest.raises(TypeError, match="not Smuggler"):
        train(Corpus(("hedge",), examples), model=model)
    honest = toy.corpus(1).examples[0]
    with pytest.raises((AttributeError, TypeError)):
        object.__setattr__(honest, "word_labels", ((True,),))
    assert set(Example.__slots__) == {"sentence", "labels"}
    assert set(GoldExample.__slots__) - set(Example.__slots__) == {"word_labels"}


MIXED = [(True,), (False,)] * 10


@pytest.mark.parametrize(
    ("corpus", "dev", "message"),
    [
        (toy.with_labels(*MIXED[:9]), None, "9 training sentences; at least 10 are needed"),
        (
            toy.with_labels(*[(True,)] * 20),
            None,
            "only one class: every training sentence has the label 'a'; sentences of both kinds are needed",
        ),
        (
            toy.with_labels(*[(True, False), (False, False)] * 10, names=("a", "b")),
            None,
            "only one class: no training sentence has the label 'b'; sentences of both kinds are needed",
        ),
        (
            toy.with_labels(*[()] * 10, names=()),
            None,
            "only one class: no training sentence has a label; sentences of both kinds are needed",
        ),
        (
            toy.with_labels(*MIXED),
            toy.with_labels(*MIXED, names=("b",)),
            "the development set has labels b; training has a",
        ),
        (
            Corpus(("a",), (*toy.with_labels(*MIXED).examples, Example(Sentence("", (), ()), (True,)))),
            None,
            "a sentence without words cannot be trained on",
        ),
        (
            toy.with_labels(*MIXED),
            toy.with_labels(),
            "the development set is empty",
        ),
        (
            toy.with_labels(*[tuple(bool(i >> k & 1) for k in range(4)) for i in range(12)], names=tuple("abcd")),
            None,
            "no two different training sentences have the same labels: give a development set with --dev",
        ),
    ],
)
def test_data_that_nothing_can_be_learnt_from(
    corpus: Corpus[Example], dev: Corpus[Example] | None, message: str, model: ModelConfig
) -> None:
    with pytest.raises(ZerotagError) as caught:
        train(corpus, dev, model=model)
    assert str(caught.value) == message
