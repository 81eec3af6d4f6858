"""The word scorer's last layer, fitted anew to the labelled words of a few sentences.

All of the network stays as it is but the weights that make a token's logit of its features: a logistic regression on
labelled words whose prior is the network's own weights. How far it may move away from them is chosen by
cross-validation over the labelled sentences; if none of the moves predicts held-out sentences better, none is made.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

from zerotag.calibration import Calibration, sigmoid
from zerotag.evaluation.few_words import (
    INDEPENDENT,
    SHIFT_DEVIATION,
    STRETCH_DEVIATION,
    LabelledWords,
    rule_from_few_words,
    sentence_weights,
)
from zerotag.inference.torch_predictor import device_of, evaluating, in_groups, token_budget
from zerotag.labeller import WordLabeller
from zerotag.modeling.heads import SoftAttention
from zerotag.modeling.network import Network, TensorBatch
from zerotag.text.alignment import Aligner, Encoded
from zerotag.types import CorrectedExample, Rule

Floats = NDArray[np.float64]

STIFFNESSES = (math.inf, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)  # of the prior, from the network's own weights on
FOLDS = 5
MOST_SENTENCES = 1_000  # more change little


class Words(NamedTuple):
    """The labelled words of some sentences in a row, for one label."""

    features: NDArray[np.float32]  # (words, A)
    logits: Floats  # the network's own
    positive: Floats
    weights: Floats
    sentence: NDArray[np.int64]

    def where(self, chosen: NDArray[np.bool_]) -> Words:
        """Some of them."""
        return Words(
            self.features[chosen],
            self.logits[chosen],
            self.positive[chosen],
            self.weights[chosen],
            self.sentence[chosen],
        )


class Fit(NamedTuple):
    """What the labelled words say: logit' = stretch * logit + features @ change + shift."""

    stretch: float
    shift: float
    change: Floats

    def logits(self, words: Words) -> Floats:
        """Of words, as log-odds that they are positive."""
        found: Floats = self.stretch * words.logits + words.features @ self.change + self.shift
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """One label's layer after the fit."""

    change: Floats
    """To be added to the weights, on the network's own scale."""

    calibration: Calibration
    """Of the new scores."""

    word_threshold: float

    reliability: float
    """Share of the uncertainty about held-out words that the scores take away (McFadden's R²), from 0 to 1."""


def refit(labeller: WordLabeller, examples: Sequence[CorrectedExample]) -> tuple[WordLabeller, tuple[Refitted, ...]]:
    """The labeller with its last layer fitted to labelled words, and what became of each label.

    A label that has no positive word among these stays as it is. The labeller that was given does, too.
    """
    chosen = examples[:MOST_SENTENCES]
    network, aligner = copy.deepcopy(labeller.network), labeller.aligner
    features, logits = word_features(network, aligner, aligner.encode([one.sentence for one in chosen]))
    labels = np.array([one.labels for one in chosen], np.bool_)
    gold = [np.array(one.word_labels, np.bool_) for one in chosen]
    known = labeller.manifest.calibration or tuple(Calibration(positive=float(share)) for share in labels.mean(axis=0))
    results = []
    for k, (rule, prior) in enumerate(zip(labeller.rules, known, strict=True)):
        lengths = [len(one) for one in gold]
        words = Words(
            np.concatenate([one[:, k] for one in features]),
            np.concatenate([one[:, k] for one in logits]).astype(np.float64),
            np.concatenate([one[:, k] for one in gold]).astype(np.float64),
            np.repeat(sentence_weights(labels[:, k], prior.positive), lengths),
            np.repeat(np.arange(len(gold)), lengths),
        )
        results.append(_refit_label(words, prior, rule))
    head = network.head
    assert isinstance(head, SoftAttention)
    with torch.no_grad():
        change = torch.tensor(np.stack([one.change for one in results]), dtype=torch.float32)
        head.attention_score.weight += change.to(head.attention_score.weight.device)
    manifest = replace(labeller.manifest, calibration=tuple(one.calibration for one in results))
    return WordLabeller(network, labeller.tokenizer, manifest), tuple(results)


def _refit_label(words: Words, prior: Calibration, rule: Rule) -> Refitted:
    if not words.positive.any():
        nothing = np.zeros(words.features.shape[1])
        return Refitted(nothing, prior, rule.word_threshold, 0.0)
    sentences = int(words.sentence.max()) + 1
    fold_of = np.random.default_rng(0).permutation(np.arange(sentences) % min(FOLDS, sentences))[words.sentence]
    held_out = {stiffness: _held_out(words, fold_of, prior, stiffness) for stiffness in STIFFNESSES}
    losses = {stiffness: _loss(logits, words) for stiffness, logits in held_out.items()}
    best = min(losses, key=losses.__getitem__)
    fit = fitted(words, prior, best)
    calibration = replace(prior, stretch=fit.stretch, shift=fit.shift)
    # As the network will score sentences it has not seen.
    scores = sigmoid((held_out[best] - fit.shift) / fit.stretch).astype(np.float32)
    held_out_words = LabelledWords(scores, words.positive, words.weights, sentences)
    share = words.weights @ words.positive / words.weights.sum()
    ignorant = _loss(np.full(len(words.positive), math.log(share / max(1 - share, 1e-6))), words)
    return Refitted(
        change=fit.change / fit.stretch,
        calibration=calibration,
        word_threshold=rule_from_few_words(held_out_words, calibration, rule, rule.origin).word_threshold,
        reliability=float(np.clip(1 - losses[best] / max(ignorant, 1e-9), 0, 1)),
    )


def _held_out(words: Words, fold_of: NDArray[np.int64], prior: Calibration, stiffness: float) -> Floats:
    """What fits that have not seen a word's sentence say of the word."""
    logits = np.zeros(len(words.logits))
    for fold in np.unique(fold_of):
        inside = fold_of == fold
        rest = words.where(~inside)
        fit = fitted(rest, prior, stiffness)
        logits[inside] = fit.logits(words.where(inside))
    return logits


def _loss(logits: Floats, words: Words) -> float:
    """Mean cross-entropy."""
    return float(words.weights @ (np.logaddexp(0, logits) - words.positive * logits) / max(words.weights.sum(), 1e-9))


def fitted(words: Words, prior: Calibration, stiffness: float) -> Fit:
    """The most likely fit, given that weights stray from the network's own by 1 / stiffness in the mean square."""
    features = words.features.astype(np.float64)
    free = features.shape[1] if math.isfinite(stiffness) else 0

    def unlikelihood(parameters: Floats) -> tuple[float, Floats]:
        log_stretch, shift, change = parameters[0], parameters[1], parameters[2:]
        stretch = math.exp(log_stretch)
        logits = stretch * words.logits + shift
        if free:
            logits = logits + features @ change
        value = INDEPENDENT * words.weights @ (np.logaddexp(0, logits) - words.positive * logits)
        wrong = INDEPENDENT * words.weights * (sigmoid(logits) - words.positive)
        away = (log_stretch - math.log(prior.stretch)) / STRETCH_DEVIATION, (shift - prior.shift) / SHIFT_DEVIATION
        value += (away[0] ** 2 + away[1] ** 2) / 2
        slope = [
            stretch * (wrong @ words.logits) + away[0] / STRETCH_DEVIATION,
            wrong.sum() + away[1] / SHIFT_DEVIATION,
        ]
        if not free:
            return float(value), np.array(slope)
        penalty = INDEPENDENT * stiffness
        return float(value + penalty * change @ change / 2), np.concatenate(
            [slope, wrong @ features + penalty * change]
        )

    start = np.concatenate([[math.log(prior.stretch), prior.shift], np.zeros(free)])
    found = minimize(unlikelihood, start, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x
    change = found[2:] if free else np.zeros(features.shape[1])
    return Fit(math.exp(found[0]), float(found[1]), change)


def word_features(
    network: Network, aligner: Aligner, encoded: Sequence[Encoded]
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
    """What the last layer reads of each word, (words, K, A), and what it makes of that, (words, K).

    A word is its token with the highest logit, label by label, as its score is that token's. Words without a token have
    no features, and a logit that says no.
    """
    head = network.head
    assert isinstance(head, SoftAttention)
    device = device_of(network)

    def compute(members: Sequence[Encoded]) -> list[NDArray[np.float32]]:
        batch = aligner.batch(members)
        tensors = TensorBatch.of(batch, device)
        hidden = network.encode(tensors).float()
        tokens = hidden if tensors.stitch is None else hidden.flatten(0, 1)[tensors.stitch]
        read = torch.tanh(head.attention_hidden(tokens)).cpu().numpy()
        return list(aligner.tokens(batch, read, members))

    with torch.no_grad(), evaluating(network):
        of_tokens = in_groups(aligner, encoded, token_budget(device), compute)
        weight = head.attention_score.weight.cpu().numpy()
        bias = head.attention_score.bias.cpu().numpy()
    pairs = [_of_words(one, tokens, tokens @ weight.T + bias) for one, tokens in zip(encoded, of_tokens, strict=True)]
    return [features for features, _ in pairs], [logits for _, logits in pairs]


def _of_words(
    encoded: Encoded, tokens: NDArray[np.float32], logits: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    labels = logits.shape[1]
    features = np.zeros((encoded.words, labels, tokens.shape[1]), np.float32)
    of_words = np.full((encoded.words, labels), -14.0, np.float32)  # the logit of a score of one in a million
    for word, token in zip(encoded.pair_words.tolist(), encoded.pair_tokens.tolist(), strict=True):
        for k in range(labels):
            if logits[token, k] > of_words[word, k]:
                of_words[word, k], features[word, k] = logits[token, k], tokens[token]
    return features, of_words
