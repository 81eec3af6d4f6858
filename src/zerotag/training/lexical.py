"""Pseudo-labels for corpora whose evidence is in the words themselves, and how far a corpus is one of those.

In deep layers every token knows what its sentence says, and a full stop can speak for an insult. Where a word tells the
label by itself, three other things name it: what the lowest layers score it, what the teacher says when it is shown
that word alone, and what hiding it costs the verdict on its sentence. They are added up, calibrated on the sentence
labels of the development set, and made the probability of each word given that its sentence has the label.

Whether a corpus is of this kind is told by its sentence labels, too: of what the teacher knows about development
sentences beyond their length, the share that verdicts on lone words explain when they are added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from zerotag.calibration import logit, sigmoid
from zerotag.inference.predictor import predict
from zerotag.inference.torch_predictor import TorchPredictor
from zerotag.text.alignment import Aligner, Encoded
from zerotag.training.observations import Observed
from zerotag.training.teacher import Teacher
from zerotag.training.thresholds import EVIDENCE_EXPONENT, posterior, starts_of
from zerotag.types import BoolArray, FloatArray, Sentence

Floats = NDArray[np.float64]

MASKS_AROUND = 4  # on either side of a word that is shown alone
COST = 0.25  # weight of what hiding a word costs, beside 1 for the lowest layers and 1 for the word alone
RARE = -3.0  # the log-odds of an average word, before anything is calibrated: most words carry no label
STEEPNESS = 20.0  # how fast the weight rises where words alone explain half of what is known
FEWEST_LAYERS = 4  # of a teacher; in fewer, tokens know so little context that contextual scores are better
LONG = 100.0  # words of a text in which evidence is as often a passage as a word


def verdicts_on_lone_words(
    teacher: Teacher, aligner: Aligner, texts: Iterable[Sequence[str]], mask_id: int | None
) -> dict[str, Floats]:
    """The logits, (K,), of what the teacher says of each word in lower case, shown between mask tokens."""
    words = sorted({word.lower() for text in texts for word in text})
    around = np.full(MASKS_AROUND if mask_id is not None else 0, mask_id or 0, np.int64)
    views = [_between(one, around) for one in aligner.encode([Sentence.from_words([word]) for word in words])]
    found = [logit(one.sentence_scores) for one in predict(TorchPredictor(teacher), aligner, views)]
    return dict(zip(words, found, strict=True))


def _between(word: Encoded, around: NDArray[np.int64]) -> Encoded:
    ids = np.concatenate([around, word.ids, around])
    tokens = np.arange(len(around), len(around) + len(word.ids))
    return Encoded(ids, tokens, np.zeros(len(tokens), np.int64), 1)


def weights(
    teacher: Teacher,
    aligner: Aligner,
    sentences: Sequence[Encoded],
    words: Sequence[Sequence[str]],
    labels: BoolArray,
    alone: dict[str, Floats],
) -> FloatArray:
    """How far pseudo-labels should be lexical, for each label, by the labels of development sentences: 0 to 1, (K,).

    Next to nothing is 0. In long texts, whose evidence is passages rather than words, less of it is.
    """
    verdicts = np.stack([one.sentence_scores for one in predict(TorchPredictor(teacher), aligner, sentences)])
    lengths = np.array([len(text) for text in words], np.float64)
    shares = np.array(
        [
            lexical_share([_of(alone, text)[:, k] for text in words], verdicts[:, k], labels[:, k])
            for k in range(labels.shape[1])
        ]
    )
    found = sigmoid(STEEPNESS * (shares - 0.5)) / (1 + (lengths.mean() / LONG) ** 2)
    return np.where(found < 0.01, 0, found).astype(np.float32)


def lexical_share(alone: Sequence[Floats], verdicts: FloatArray, labels: BoolArray) -> float:
    """Of what verdicts explain of sentence labels beyond the number of words, the share that lone words do: 0 to 1."""
    if labels.all() or not labels.any():
        return 0.0
    lengths = np.array([[len(words)] for words in alone], np.float64)
    sums = np.array([[w.sum(), w.max(), w.min(), np.logaddexp(0, w).sum()] for w in alone])
    by_length, by_words, by_teacher = (
        explained(features, labels)
        for features in (lengths, np.hstack([lengths, sums]), np.hstack([lengths, logit(verdicts)[:, None]]))
    )
    return float(np.clip((by_words - by_length) / max(by_teacher - by_length, 1e-3), 0, 1))


def explained(features: Floats, labels: BoolArray) -> float:
    """The share of the deviance of labels that a logistic regression on features, (sentences, F), explains."""
    scale = np.maximum(features.std(axis=0), 1e-9)
    design = np.hstack([(features - features.mean(axis=0)) / scale, np.ones((len(features), 1))])
    signs = np.where(labels, 1.0, -1.0)

    def deviance(coefficients: Floats) -> float:
        return float(np.logaddexp(0, -signs * (design @ coefficients)).mean())

    def penalised(coefficients: Floats) -> float:  # as few sentences can be told apart by chance
        return deviance(coefficients) + float(coefficients[:-1] @ coefficients[:-1]) / (2 * len(labels))

    rate = labels.mean()
    null = -(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
    return float(1 - deviance(minimize(penalised, np.zeros(design.shape[1])).x) / null)


def lexical_worth(
    observed: Sequence[Observed],
    words: Sequence[Sequence[str]],
    labels: BoolArray,
    dev_observed: Sequence[Observed],
    dev_words: Sequence[Sequence[str]],
    dev_labels: BoolArray,
    alone: dict[str, Floats],
) -> list[FloatArray]:
    """How likely each word is to carry the label, (words, K), given that its sentence has it; 0 where it has not."""
    worth = [np.zeros_like(one.words) for one in observed]
    lone, dev_lone = ([_of(alone, text) for text in texts] for texts in (words, dev_words))
    for k in range(labels.shape[1]):
        of_train, of_dev = (
            _evidence([one.shallow[:, k] for one in seen], [a[:, k] for a in its], [one.cost[:, k] for one in seen])
            for seen, its in ((observed, lone), (dev_observed, dev_lone))
        )
        centre, scale = (
            of_train.mean(axis=0) * [1, 1, 0],
            np.array([*of_train.std(axis=0)[:2], _spread(of_train[:, 2])]),
        )
        evidence, dev_evidence = (
            sigmoid((rows - centre) / np.maximum(scale, 1e-6) @ [1, 1, COST] + RARE).astype(np.float32)
            for rows in (of_train, of_dev)
        )
        curve = posterior(logit(dev_evidence), starts_of(dev_words), dev_labels[:, k], EVIDENCE_EXPONENT).mode
        ends = np.cumsum([len(text) for text in words])
        for i in np.flatnonzero(labels[:, k]).tolist():
            its_words = evidence[ends[i] - len(words[i]) : ends[i]]
            worth[i][:, k] = given_that_there_is_one(curve.of(logit(its_words)))
    return worth


def given_that_there_is_one(probabilities: Floats) -> Floats:
    """Of words, after it has become known that at least one of them is positive (noisy-or)."""
    there_is_one = -np.expm1(np.log1p(-np.clip(probabilities, 0, 1 - 1e-6)).sum())
    posterior: Floats = np.minimum(probabilities / max(there_is_one, 1e-6), 1)
    return posterior


def _evidence(shallow: Sequence[FloatArray], alone: Sequence[Floats], cost: Sequence[FloatArray]) -> Floats:
    """What names a word, (all words, 3)."""
    return np.stack([logit(np.concatenate(shallow)), np.concatenate(alone), np.concatenate(cost)], axis=1)


def _spread(costs: Floats) -> float:
    """The deviation of the costs of those words that were hidden."""
    hidden = costs[costs != 0]
    return float(hidden.std()) if len(hidden) else 1.0


def _of(alone: dict[str, Floats], words: Sequence[str]) -> Floats:
    return np.stack([alone[word.lower()] for word in words])
