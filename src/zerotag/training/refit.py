"""The word scorer's last layer, fitted anew to the labelled words of a few sentences.

All of the network stays as it is but the weights that make a token's logit of its features: a logistic regression on
labelled words whose prior is the network's own weights. How far it may move away from them is chosen by
cross-validation over the labelled sentences and the one-standard-error rule: the layer moves no further than it has to,
and not at all where held-out sentences are not predicted better by more than chance would have it. Then thresholds
alone are tuned.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
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
    first_of_the_best,
    log_odds,
    sentence_losses,
    sentence_weights,
    threshold_from_few_words,
)
from zerotag.inference.devices import token_budget
from zerotag.inference.predictor import in_groups
from zerotag.inference.torch_predictor import device_of, evaluating
from zerotag.labeller import WordLabeller
from zerotag.modeling.heads import SoftAttention
from zerotag.modeling.network import Network, TensorBatch
from zerotag.text.alignment import Aligner, Encoded
from zerotag.types import CorrectedExample, Rule

Floats = NDArray[np.float64]

STIFFNESSES = (math.inf, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)  # of the prior, from the network's own weights on
FOLDS = 5
LOWEST_LOGIT = -14.0  # that of a score of one in a million, for words without a token
MOST_WORDS = 20_000  # more change little; of more, a random part is taken
AT_ONCE = 512  # sentences whose features are in memory


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


def refit(labeller: WordLabeller, examples: Sequence[CorrectedExample]) -> tuple[WordLabeller, tuple[Refitted, ...]]:
    """The labeller with its last layer fitted to labelled words, and what became of each label.

    A label that has no positive word among these stays as it is. The labeller that was given does, too.
    """
    network = copy.deepcopy(labeller.network)
    encoded = labeller.aligner.encode([one.sentence for one in examples])
    results = refitted(labeller, examples, word_features(network, labeller.aligner, encoded))
    head = network.head
    assert isinstance(head, SoftAttention)
    with torch.no_grad():
        change = torch.tensor(np.stack([one.change for one in results]), dtype=torch.float32)
        head.attention_score.weight += change.to(head.attention_score.weight.device)
    manifest = replace(
        labeller.manifest,
        rules=tuple(
            replace(rule, word_threshold=one.word_threshold) for rule, one in zip(labeller.rules, results, strict=True)
        ),
        calibration=tuple(one.calibration for one in results),
    )
    return WordLabeller(network, labeller.tokenizer, manifest), results


def refitted(
    labeller: WordLabeller, examples: Sequence[CorrectedExample], read: Iterable[ReadWords]
) -> tuple[Refitted, ...]:
    """What becomes of each label by labelled words, given what the last layer reads of them."""
    labels = np.array([one.labels for one in examples], np.bool_)
    kept = _kept([len(one.word_labels) for one in examples])
    gold = [np.array(one.word_labels, np.bool_)[its] for one, its in zip(examples, kept, strict=True)]
    some = [ReadWords(one.features[its], one.logits[its]) for one, its in zip(read, kept, strict=True)]
    lengths = [len(its) for its in kept]
    weight = sum(len(one.word_labels) for one in examples) / sum(lengths)
    known = labeller.manifest.calibration or tuple(Calibration(positive=float(share)) for share in labels.mean(axis=0))
    results = []
    for k, (rule, prior) in enumerate(zip(labeller.rules, known, strict=True)):
        words = Words(
            np.concatenate([one.features[:, k] for one in some]),
            np.concatenate([one.logits[:, k] for one in some]).astype(np.float64),
            np.concatenate([one[:, k] for one in gold]).astype(np.float64),
            weight * np.repeat(sentence_weights(labels[:, k], prior.positive), lengths),
            np.repeat(np.arange(len(gold)), lengths),
        )
        results.append(refit_label(words, prior, rule))
    return tuple(results)


def _kept(lengths: Sequence[int]) -> list[NDArray[np.int64]]:
    """Which words of each sentence are used: all, or a random part of so many."""
    count = sum(lengths)
    used = np.ones(count, np.bool_)
    if count > MOST_WORDS:
        used[np.random.default_rng(0).permutation(count)[MOST_WORDS:]] = False
    return [np.flatnonzero(its) for its in np.split(used, np.cumsum(lengths)[:-1])]


def refit_label(words: Words, prior: Calibration, rule: Rule) -> Refitted:
    """What becomes of a label by its labelled words, after what was known of its scores and its threshold before."""
    if not words.positive.any():
        return Refitted(_nothing(words), prior, rule.word_threshold)
    sentences = int(words.sentence.max()) + 1
    fold_of = np.random.default_rng(0).permutation(np.arange(sentences) % min(FOLDS, sentences))[words.sentence]
    held_out = _held_out(words, fold_of, prior)
    labelled = LabelledWords(
        sigmoid(words.logits).astype(np.float32), words.positive, words.weights, np.bincount(words.sentence)
    )
    chosen = first_of_the_best(np.stack([sentence_losses(logits, labelled) for logits in held_out]))
    if not chosen:
        before = log_odds(prior, rule.word_threshold)
        return Refitted(_nothing(words), prior, threshold_from_few_words(labelled, prior, before))
    fit = _path(words, prior, STIFFNESSES[: chosen + 1])[-1]
    calibration = replace(prior, stretch=fit.stretch, shift=fit.shift)
    # As the network will score sentences it has not seen.
    labelled = labelled._replace(scores=sigmoid((held_out[chosen] - fit.shift) / fit.stretch).astype(np.float32))
    return Refitted(
        change=fit.change / fit.stretch,
        calibration=calibration,
        word_threshold=threshold_from_few_words(labelled, calibration, log_odds(prior, rule.word_threshold)),
    )


def _nothing(words: Words) -> Floats:
    """The change of a layer that stays as it is."""
    return np.zeros(words.features.shape[1])


def _held_out(words: Words, fold_of: NDArray[np.int64], prior: Calibration) -> NDArray[np.float64]:
    """What fits that have not seen a word's sentence say of the word: (stiffnesses, words)."""
    logits = np.zeros((len(STIFFNESSES), len(words.logits)))
    for fold in np.unique(fold_of):
        inside = fold_of == fold
        fits = _path(words.where(~inside), prior, STIFFNESSES)
        logits[:, inside] = [fit.logits(words.where(inside)) for fit in fits]
    return logits


def _path(words: Words, prior: Calibration, stiffnesses: Sequence[float]) -> list[Fit]:
    """A fit for each stiffness, which begins where the stiffer one before it has ended."""
    fits: list[Fit] = []
    for stiffness in stiffnesses:
        fits.append(fitted(words, prior, stiffness, fits[-1] if fits else None))
    return fits


def fitted(words: Words, prior: Calibration, stiffness: float, start: Fit | None = None) -> Fit:
    """The most likely fit, given that weights stray from the network's own by 1 / stiffness in the mean square."""
    features = words.features
    free = features.shape[1] if math.isfinite(stiffness) else 0

    def unlikelihood(parameters: Floats) -> tuple[float, Floats]:
        log_stretch, shift, change = parameters[0], parameters[1], parameters[2:]
        stretch = math.exp(log_stretch)
        logits = stretch * words.logits + shift
        if free:
            logits = logits + features @ change.astype(np.float32)
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
            [slope, wrong.astype(np.float32) @ features + penalty * change]
        )

    begin = start or Fit(prior.stretch, prior.shift, _nothing(words))
    parameters = np.concatenate([[math.log(begin.stretch), begin.shift], begin.change[:free]])
    found = minimize(unlikelihood, parameters, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x
    change = found[2:] if free else np.zeros(features.shape[1])
    return Fit(math.exp(found[0]), float(found[1]), change)


class ReadWords(NamedTuple):
    """What the last layer reads of a sentence's words, (words, K, A), and what it makes of that, (words, K)."""

    features: NDArray[np.float32]
    logits: NDArray[np.float32]


def word_features(network: Network, aligner: Aligner, encoded: Sequence[Encoded]) -> Iterator[ReadWords]:
    """What the last layer reads of the words of each sentence."""
    head = network.head
    assert isinstance(head, SoftAttention)
    weight, bias = head.attention_score.weight.detach().cpu().numpy(), head.attention_score.bias.detach().cpu().numpy()
    for start in range(0, len(encoded), AT_ONCE):
        some = encoded[start : start + AT_ONCE]
        for one, tokens in zip(some, token_features(network, aligner, some), strict=True):
            yield _of_words(one, tokens, tokens @ weight.T + bias)


def token_features(network: Network, aligner: Aligner, encoded: Sequence[Encoded]) -> list[NDArray[np.float32]]:
    """What the last layer reads of each token, (tokens, A)."""
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
        return in_groups(aligner, encoded, token_budget(device.type), compute)


def _of_words(encoded: Encoded, tokens: NDArray[np.float32], logits: NDArray[np.float32]) -> ReadWords:
    """A word is its token with the highest logit, label by label, as its score is that token's.

    Words without a token have no features, and a logit that says no.
    """
    labels = logits.shape[1]
    features = np.zeros((encoded.words, labels, tokens.shape[1]), np.float32)
    highest = np.full((encoded.words, labels), LOWEST_LOGIT, np.float32)
    for k in range(labels):
        order = np.lexsort((logits[encoded.pair_tokens, k], encoded.pair_words))
        words, its_tokens = encoded.pair_words[order], encoded.pair_tokens[order]
        last = np.append(words[1:] != words[:-1], True)[: len(words)]
        features[words[last], k] = tokens[its_tokens[last]]
        highest[words[last], k] = logits[its_tokens[last], k]
    return ReadWords(features, highest)
