"""The lexical baseline: logistic regression on the words of a sentence, fitted at once.

It is what one would try first: which words occur more often in sentences with the label. Nothing is known of a word but
the word itself. How far coefficients are held back is chosen for each label by the F1 of development sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from transformers import PreTrainedTokenizerFast

from zerotag.calibration import sigmoid
from zerotag.evaluation.metrics import precision_recall_f1
from zerotag.modeling.encoders import EncoderSpec
from zerotag.modeling.network import Network
from zerotag.modeling.unigrams import LogisticRegression, Unigrams, UnigramsConfig
from zerotag.text.alignment import Encoded
from zerotag.text.whole_words import MASK, PADDING, UNKNOWN, lower_case_tokenizer
from zerotag.types import BoolArray, Corpus, Example, FloatArray, IntArray, Rule, Sentence

Floats = NDArray[np.float64]

STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Weights of the training sentences against the squared coefficients, scikit-learn's `C`."""

MOST_ITERATIONS = 1_000
TOLERANCE = 1e-4  # of the gradient's largest component


def fit(
    network: Network,
    sentences: Sequence[Encoded],
    labels: BoolArray,
    dev_sentences: Sequence[Encoded],
    dev_labels: BoolArray,
) -> None:
    """Give a network of the lexical baseline its coefficients, label by label."""
    head = network.head
    assert isinstance(head, LogisticRegression)
    bags, dev_bags = (
        bags_of_words([one.ids for one in some], len(head.coefficients)) for some in (sentences, dev_sentences)
    )
    found = [chosen(bags, labels[:, k], dev_bags, dev_labels[:, k]) for k in range(labels.shape[1])]
    with torch.no_grad():
        head.coefficients.copy_(torch.from_numpy(np.stack([one[:-1] for one in found], axis=1)))
        head.intercept.copy_(torch.tensor([one[-1] for one in found]))


def sentence_scores(corpus: Corpus[Example], dev: Corpus[Example]) -> FloatArray:
    """What the baseline says of development sentences, (sentences, K), without a network being made."""
    ids: dict[str, int] = {}
    numbers, dev_numbers = (
        [[ids.setdefault(word.lower(), len(ids)) for word in one.sentence.words] for one in part.examples]
        for part in (corpus, dev)  # words that training does not have get a coefficient of 0
    )
    bags, dev_bags = (bags_of_words([np.array(one) for one in some], len(ids)) for some in (numbers, dev_numbers))
    labels, dev_labels = (np.array([one.labels for one in part.examples]) for part in (corpus, dev))
    found = [chosen(bags, labels[:, k], dev_bags, dev_labels[:, k]) for k in range(labels.shape[1])]
    return np.stack([sigmoid(dev_bags @ one[:-1] + one[-1]) for one in found], axis=1).astype(np.float32)


def bags_of_words(sentences: Sequence[IntArray], words: int) -> csr_array:
    """Which words sentences have, (sentences, words): 1 for each, however often it is there."""
    rows = [np.unique(numbers) for numbers in sentences]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.concatenate([np.zeros(0, np.int64), *rows])
    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(rows), words))


def chosen(bags: csr_array, labels: BoolArray, dev_bags: csr_array, dev_labels: BoolArray) -> Floats:
    """The coefficients, the intercept last, that predict development sentences best; if several do, the likeliest."""
    best: tuple[float, float] | None = None
    weights = found = np.zeros(bags.shape[1] + 1)
    for strength in STRENGTHS:
        weights = regression(bags, labels, strength, weights)
        scores = sigmoid(dev_bags @ weights[:-1] + weights[-1])
        f1 = precision_recall_f1(dev_labels, scores >= Rule().sentence_threshold).f1
        likelihood = float(np.log(np.where(dev_labels, scores, 1 - scores)).mean())
        if best is None or (f1, likelihood) > best:
            best, found = (f1, likelihood), weights
    return found


def regression(bags: csr_array, labels: BoolArray, strength: float, start: Floats) -> Floats:
    """Coefficients and, last, the intercept, which is not held back: what scikit-learn's LogisticRegression finds."""
    signs = np.where(labels, 1.0, -1.0)
    columns = bags.T.tocsr()
    penalised = np.append(np.ones(bags.shape[1]), 0.0)
    # Steps are taken in units of about one standard error each: a word is in one sentence or in half of them.
    frequencies = np.append(columns.sum(axis=1), len(labels))
    unit = 1 / np.sqrt(penalised + strength * labels.mean() * (1 - labels.mean()) * frequencies)

    def loss(steps: Floats) -> tuple[float, Floats]:
        weights = unit * steps
        margins = signs * (bags @ weights[:-1] + weights[-1])
        by_sentence = -strength * signs * sigmoid(-margins)
        held_back = penalised * weights
        value = strength * np.logaddexp(0, -margins).sum() + held_back @ weights / 2
        return float(value), unit * (np.append(columns @ by_sentence, by_sentence.sum()) + held_back)

    found: Any = minimize(
        loss,
        start / unit,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MOST_ITERATIONS, "gtol": TOLERANCE, "ftol": 1e-10},
    )
    solution: Floats = unit * found.x
    return solution


def _start(_: str, sentences: Sequence[Sentence]) -> tuple[Unigrams, PreTrainedTokenizerFast]:
    raw = lower_case_tokenizer(sentences)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token=PADDING, unk_token=UNKNOWN, mask_token=MASK)
    return Unigrams(UnigramsConfig(hidden_size=raw.get_vocab_size())), tokenizer


ENCODER = EncoderSpec(start=_start, model_type=UnigramsConfig.model_type, tokenization="unigrams", fit=fit)
