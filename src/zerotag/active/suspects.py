"""Which sentence labels to doubt: those that a model fitted to the other sentences would not have given.

What the network makes of a sentence's words is kept, and a logistic regression on top of it is cross-fitted: each
sentence is judged by one that has not seen its label. The words that speak against the label are named beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from zerotag.calibration import sigmoid
from zerotag.errors import ZerotagError
from zerotag.labeller import Labeller, WordLabeller
from zerotag.types import BoolArray, Corpus, Example, Rule, Scored

Floats = NDArray[np.float64]

FOLDS = 5
PENALTIES = (10.0, 100.0, 1_000.0)  # of the squared weights; the one that predicts held-out labels best is taken
WORDS_NAMED = 5


@dataclass(frozen=True, slots=True)
class Suspect:
    """A sentence label that may be wrong."""

    number: int
    """The sentence's place in the corpus, from 0."""

    text: str
    label: str
    given: bool
    """Whether the sentence was said to have the label."""

    doubt: float
    """How likely a model that has not seen this label takes it to be wrong."""

    words: tuple[str, ...]
    """Words that speak against it: those marked although the label was not given, or, where it was, the strongest."""


def suspects(labeller: Labeller, corpus: Corpus[Example], *, n: int | None = None) -> list[Suspect]:
    """Sentence labels that are more likely wrong than right, the most doubtful first.

    Args:
        labeller: a model for these labels, such as the one that was trained on the corpus.
        corpus: sentences with labels, as `zerotag.read` returns them.
        n: how many to return, however likely they are. Default: those that are more likely wrong than right.

    Raises:
        ZerotagError: the model has other labels, does not run in torch, or a label is there in fewer than two of the
            sentences or missing in fewer than two.
    """
    if not isinstance(labeller, WordLabeller):
        raise ZerotagError("suspects needs the model folder that was trained, not what was exported from it")
    if corpus.label_names != labeller.label_names:
        raise ZerotagError(
            f"these sentences have labels {', '.join(corpus.label_names)}; "
            f"this model has {', '.join(labeller.label_names)}"
        )
    scored = list(labeller.score(one.sentence for one in corpus.examples))
    labels = np.array([one.labels for one in corpus.examples], np.bool_)
    found = []
    for k, (name, rule) in enumerate(zip(labeller.label_names, labeller.rules, strict=True)):
        chances = cross_fitted(sentence_features(labeller, corpus, k), labels[:, k])
        doubts = np.where(labels[:, k], 1 - chances, chances)
        chosen = np.argsort(-doubts, kind="stable")
        for i in (chosen[doubts[chosen] > 0.5] if n is None else chosen[:n]).tolist():
            given = bool(labels[i, k])
            words = _words_against(scored[i], k, rule, given)
            found.append(Suspect(i, corpus.examples[i].sentence.text, name, given, float(doubts[i]), words))
    found.sort(key=lambda one: (-one.doubt, one.number))
    return found[:n]


def _words_against(scored: Scored, k: int, rule: Rule, given: bool) -> tuple[str, ...]:
    scores = scored.word_scores[:, k]
    order = np.argsort(-scores, kind="stable").tolist()
    marked = [i for i in order if scores[i] >= rule.word_threshold]
    chosen = order[:1] if given and not marked else marked
    return tuple(scored.sentence.words[i] for i in chosen[:WORDS_NAMED])


def sentence_features(labeller: WordLabeller, corpus: Corpus[Example], k: int) -> NDArray[np.float32]:
    """What the word scorer reads, of the average word and of the strongest: (sentences, 2 A), standardised."""
    from zerotag.training.refit import word_features

    rows = []
    encoded = labeller.aligner.encode([one.sentence for one in corpus.examples])
    for read in word_features(labeller.network, labeller.aligner, encoded):
        strongest = read.features[int(read.logits[:, k].argmax()), k]
        rows.append(np.concatenate([read.features[:, k].mean(axis=0), strongest]))
    matrix = np.array(rows, np.float32)
    standard: NDArray[np.float32] = (matrix - matrix.mean(axis=0)) / (matrix.std(axis=0) + 1e-6)
    return standard


def cross_fitted(features: NDArray[np.float32], labels: BoolArray) -> Floats:
    """How likely each sentence is to have the label, after a logistic regression on the other folds."""
    if min(labels.sum(), (~labels).sum()) < 2:
        raise ZerotagError("at least two sentences with and two without each label are needed to doubt any")
    fold_of = np.zeros(len(labels), np.int64)
    draw = np.random.default_rng(0)
    for kind in (True, False):  # as many of each kind in every fold
        members = draw.permutation(np.flatnonzero(labels == kind))
        fold_of[members] = np.arange(len(members)) % FOLDS
    candidates = [_out_of_fold(features, labels, fold_of, penalty) for penalty in PENALTIES]
    return min(candidates, key=lambda chances: _cross_entropy(chances, labels))


def _out_of_fold(
    features: NDArray[np.float32], labels: BoolArray, fold_of: NDArray[np.int64], penalty: float
) -> Floats:
    chances = np.zeros(len(labels))
    for fold in np.unique(fold_of):
        inside = fold_of == fold
        weights = logistic_regression(features[~inside], labels[~inside], penalty)
        chances[inside] = sigmoid(features[inside] @ weights[1:] + weights[0])
    return chances


def logistic_regression(features: NDArray[np.float32], labels: BoolArray, penalty: float) -> Floats:
    """Bias and weights."""
    positive = labels.astype(np.float64)

    def unlikelihood(weights: Floats) -> tuple[float, Floats]:
        logits = features @ weights[1:].astype(np.float32) + weights[0]
        wrong = sigmoid(logits) - positive
        value = (np.logaddexp(0, logits) - positive * logits).sum() + penalty * weights[1:] @ weights[1:] / 2
        slope = np.concatenate([[wrong.sum()], wrong.astype(np.float32) @ features + penalty * weights[1:]])
        return float(value), slope

    start = np.zeros(features.shape[1] + 1)
    found: Floats = minimize(unlikelihood, start, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x
    return found


def _cross_entropy(chances: Floats, labels: BoolArray) -> float:
    return float(-np.log(np.clip(np.where(labels, chances, 1 - chances), 1e-9, None)).mean())
