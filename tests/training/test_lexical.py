"""Pseudo-labels of words that tell the label by themselves, and how far a corpus has such words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from zerotag.training import lexical
from zerotag.training.observations import Observed
from zerotag.types import BoolArray, FloatArray

RANDOM = np.random.default_rng(0)
NOISE = 0.3


def alone_and_labels(sentences: int, told_by_words: bool) -> tuple[list[lexical.Floats], FloatArray, BoolArray]:
    """Verdicts on lone words, sure verdicts on sentences, and labels that words alone tell or do not."""
    alone = [RANDOM.normal(-2, 1, RANDOM.integers(4, 12)) for _ in range(sentences)]
    labels = RANDOM.random(sentences) < 0.5
    if told_by_words:
        for words, label in zip(alone, labels, strict=True):
            words[0] = 4.0 if label else -2.0
    verdicts = np.where(labels, 0.95, 0.05)
    wrong = RANDOM.random(sentences) < NOISE / 10
    return alone, np.where(wrong, 1 - verdicts, verdicts).astype(np.float32), labels


def test_words_that_tell_the_label_explain_most_of_what_is_known_and_others_nothing() -> None:
    assert lexical.lexical_share(*alone_and_labels(400, told_by_words=True)) > 0.95
    assert lexical.lexical_share(*alone_and_labels(400, told_by_words=False)) < 0.05


def test_what_length_explains_is_not_put_down_to_words() -> None:
    """Long sentences have the label: the sum of lone verdicts grows with length, and tells nothing beside it."""
    labels = np.arange(400) % 2 == 0
    alone = [np.full(20 if label else 5, -1.0) + RANDOM.normal(0, 0.01, 20 if label else 5) for label in labels]
    flipped = RANDOM.random(400) < 0.2
    labels = labels ^ flipped
    verdicts = np.where(labels, 0.9, 0.1).astype(np.float32)
    assert lexical.lexical_share(alone, verdicts, labels) < 0.1


@pytest.mark.parametrize("labels", [np.ones(5, bool), np.zeros(5, bool)])
def test_labels_that_all_have_tell_nothing(labels: BoolArray) -> None:
    assert lexical.lexical_share([np.zeros(3)] * 5, np.full(5, 0.5, np.float32), labels) == 0


def test_explained_deviance_is_that_of_scikit_learn() -> None:
    features = RANDOM.normal(size=(200, 3))
    labels = RANDOM.random(200) < 1 / (1 + np.exp(-(features @ [1.0, -0.5, 0.0] + 0.3)))
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    model = LogisticRegression(C=1.0).fit(scaled, labels)  # its penalty is half the squares, on the sum of losses
    null = log_loss(labels, np.full(200, labels.mean()))
    expected = 1 - log_loss(labels, model.predict_proba(scaled)[:, 1]) / null
    assert lexical.explained(features, labels) == pytest.approx(expected, abs=1e-4)


def test_a_word_is_surer_once_it_is_known_that_there_is_one_by_hand() -> None:
    """Of two words with 0.5 and 0.2 at least one is positive with 1 - 0.5 * 0.8 = 0.6."""
    found = lexical.given_that_there_is_one(np.array([0.5, 0.2]))
    assert found.tolist() == pytest.approx([0.5 / 0.6, 0.2 / 0.6])
    assert lexical.given_that_there_is_one(np.array([0.9])).tolist() == pytest.approx([1.0])
    assert lexical.given_that_there_is_one(np.zeros(2)).tolist() == [0, 0]


def corpus(sentences: int) -> tuple[list[Observed], list[list[str]], BoolArray]:
    """Every second sentence has a cue; a full stop, which knows the label, costs nothing and says nothing alone."""
    texts, observed, labels = [], [], []
    for number in range(sentences):
        label = number % 2 == 0
        texts.append(["cue" if label else "pump", "runs", "."])
        shallow = np.array([0.9 if label else 0.1, 0.1, 0.2])[:, None] + RANDOM.normal(0, 0.01, (3, 1))
        upper = np.array([0.9, 0.2, 0.95] if label else [0.1, 0.1, 0.1])[:, None]
        cost = np.array([2.0 if label else 0.1, 0.05, 0.01])[:, None]
        observed.append(Observed(*(a.astype(np.float32) for a in (np.array([0.9]), upper, shallow, upper, cost))))
        labels.append(label)
    return observed, texts, np.array(labels)[:, None]


def test_the_cue_is_found_and_the_full_stop_that_knows_the_label_is_not() -> None:
    train, dev = corpus(60), corpus(40)
    alone = {word: np.array([logit(p)]) for word, p in {"cue": 0.95, "pump": 0.05, "runs": 0.06, ".": 0.05}.items()}
    worth = lexical.lexical_worth(*train, *dev, alone)
    for sentence, (has_label,) in zip(worth, train[2], strict=True):
        assert sentence.shape == (3, 1)
        if has_label:
            cue, runs, stop = sentence[:, 0]
            assert cue > 0.9
            assert max(runs, stop) < 0.2
        else:
            assert not sentence.any()
