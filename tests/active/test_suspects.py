"""Which sentence labels to doubt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import tiny
import toy
from zerotag import train
from zerotag.active.suspects import cross_fitted, logistic_regression, suspects
from zerotag.cli.options import LabelOptions
from zerotag.cli.suspects import suspects as command
from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.labeller import WordLabeller
from zerotag.types import Corpus, Example


@pytest.fixture(scope="module")
def labeller(tmp_path_factory: pytest.TempPathFactory) -> WordLabeller:
    encoder = tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))
    quick = TrainConfig(epochs=4, batch_size=8, learning_rate=5e-3, teacher_epochs=2)
    return train(flipped()[0], model=ModelConfig(encoder=str(encoder), depth=2), training=quick, progress=False)


def flipped() -> tuple[Corpus[Example], set[int]]:
    """A tenth of the labels are wrong."""
    corpus = toy.corpus(160)
    wrong = set(range(0, 160, 10))
    examples = tuple(
        replace(one, labels=(not one.labels[0],)) if i in wrong else one for i, one in enumerate(corpus.examples)
    )
    return replace(corpus, examples=examples), wrong


def test_wrong_labels_are_found(labeller: WordLabeller) -> None:
    """By a model that was trained on them; as many as there are, and most of them rightly."""
    corpus, wrong = flipped()
    found = suspects(labeller, corpus, n=len(wrong))
    assert len({one.number for one in found} & wrong) >= 0.8 * len(wrong)
    assert [one.doubt for one in found] == sorted((one.doubt for one in found), reverse=True)


def test_the_words_that_speak_against_a_label_are_named(labeller: WordLabeller) -> None:
    corpus, wrong = flipped()
    found = [one for one in suspects(labeller, corpus, n=10) if one.number in wrong and not one.given]
    assert found
    for one in found:
        assert set(one.words) & set(toy.CUES["hedge"])
        assert one.text == corpus.examples[one.number].sentence.text


def test_by_default_those_that_are_more_likely_wrong_than_right(labeller: WordLabeller) -> None:
    assert all(one.doubt > 0.5 for one in suspects(labeller, flipped()[0]))


def test_the_regression_is_that_of_another_library() -> None:
    draw = np.random.default_rng(0)
    features = draw.normal(size=(80, 3)).astype(np.float32)
    labels = features[:, 0] + 0.5 * draw.normal(size=80) > 0.2
    ours = logistic_regression(features, labels, 10.0)
    theirs = LogisticRegression(C=0.1, tol=1e-8).fit(features, labels)
    assert ours == pytest.approx([*theirs.intercept_, *theirs.coef_[0]], abs=1e-3)


def test_no_label_has_a_say_in_its_own_chance() -> None:
    draw = np.random.default_rng(1)
    features = draw.normal(size=(50, 2)).astype(np.float32)
    labels = features[:, 0] > 0
    chances = cross_fitted(np.eye(50, dtype=np.float32), labels)  # nothing can be learnt of a sentence from others
    assert chances == pytest.approx(np.full(50, labels.mean()), abs=0.1)
    assert (cross_fitted(features, labels)[labels] > 0.5).mean() > 0.9


def test_what_is_refused(labeller: WordLabeller) -> None:
    with pytest.raises(ZerotagError, match="at least two sentences with and two without"):
        suspects(labeller, replace(toy.corpus(10), examples=toy.corpus(10).examples[:1]))
    with pytest.raises(ZerotagError, match="these sentences have labels wet; this model has hedge"):
        suspects(labeller, toy.corpus(10, labels=("wet",)))


def test_the_command(labeller: WordLabeller, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labeller.save_pretrained(tmp_path / "model")
    source = toy.write_tsv(tmp_path / "train.tsv", toy.gold(60))
    command(model=tmp_path / "model", train=source, out=tmp_path / "out.jsonl", n=5, labels=LabelOptions())
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 5
    assert f"5 labels to look at, in {tmp_path / 'out.jsonl'}" in shown.err
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [list(one) for one in records] == [["number", "text", "label", "given", "doubt", "words"]] * 5
