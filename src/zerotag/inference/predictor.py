"""Sentences through whatever runs a network, in their own order, in batches of like length, in bounded memory.

No torch: a network may run in torch (`torch_predictor`) or in ONNX Runtime (`onnx_predictor`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from zerotag.errors import ZerotagError
from zerotag.text.alignment import Aligner, Encoded, word_scores
from zerotag.text.batches import Batch, Frame
from zerotag.text.batching import by_token_budget
from zerotag.text.subwords import SubWords
from zerotag.types import FloatArray, IntArray, Sentence

AT_ONCE = 1024  # sentences that are held, and sorted by length, at a time

R = TypeVar("R")


class RowScores(NamedTuple):
    """What the network says of a row of sentences: probabilities per label, and per token if it scores tokens."""

    sentences: FloatArray  # (S, K)
    tokens: FloatArray | None  # (N, K)


class _Part(NamedTuple):
    """The scores of some sentences of a row, and of some of its tokens."""

    numbers: IntArray
    sentence_scores: FloatArray
    places: IntArray
    token_scores: FloatArray | None


class Prediction(NamedTuple):
    """What the network says of a sentence: probabilities per label, and per token and label if it scores tokens."""

    sentence_scores: FloatArray  # (K,)
    token_scores: FloatArray | None  # (tokens, K)


class Predictor(Protocol):
    """A network that is ready to run."""

    @property
    def token_budget(self) -> int:
        """Padded sub-words per batch: enough to keep the device busy, little enough to stay in its caches."""

    def probabilities(self, batch: Batch) -> tuple[FloatArray, FloatArray | None]:
        """Scores of a batch's sentences, (S, K), and of their tokens, (S, T, K), if it scores tokens."""


@runtime_checkable
class PipelinedPredictor(Protocol):
    """A predictor whose device works while the host prepares the next batch."""

    def each(self, batches: Iterable[Batch]) -> Iterator[tuple[FloatArray, FloatArray | None]]:
        """What `probabilities` says of each batch, in their order; it may ask for a few more than it has told."""


def predict(predictor: Predictor, aligner: Aligner, encoded: Sequence[Encoded]) -> list[Prediction]:
    """Predictions for sentences that are already encoded."""
    subwords = SubWords.of(encoded, aligner.capacity)
    scores = predict_row(predictor, aligner, subwords)
    ends = np.cumsum(subwords.lengths).tolist()
    tokens = scores.tokens
    return [
        Prediction(sentence_scores, None if tokens is None else tokens[end - len(one) : end])
        for one, end, sentence_scores in zip(encoded, ends, scores.sentences, strict=True)
    ]


def predict_row(predictor: Predictor, aligner: Aligner, subwords: SubWords) -> RowScores:
    """Scores of a row of sentences; which of them go through the network together follows from the row alone."""
    if not len(subwords.lengths):
        return RowScores(np.zeros((0, 0), np.float32), None)
    parts = [*_padded(predictor, aligner.frame, subwords), *_others(predictor, aligner, subwords)]
    tokens = [part.token_scores for part in parts if part.token_scores is not None]
    if not all(np.isfinite(scores).all() for scores in (*tokens, *(part.sentence_scores for part in parts))):
        raise ZerotagError("the model gives scores that are not finite numbers: its weights are damaged, train it anew")
    return RowScores(
        _in_order([part.numbers for part in parts], [part.sentence_scores for part in parts]),
        _in_order([part.places for part in parts], tokens) if tokens else None,
    )


def _padded(predictor: Predictor, frame: Frame, subwords: SubWords) -> Iterator[_Part]:
    """The sentences that need nothing but padding."""
    numbers = np.setdiff1d(np.arange(len(subwords.lengths)), np.array([*subwords.others], np.int64))
    costs = [(1, length) for length in (subwords.lengths[numbers] + frame.size).tolist()]
    groups = [numbers[group] for group in by_token_budget(costs, predictor.token_budget)]
    outputs = _each(predictor, (subwords.batch(frame, group) for group in groups))
    for group, (sentence_scores, token_scores) in zip(groups, outputs, strict=True):
        if token_scores is None:
            yield _Part(group, sentence_scores, np.zeros(0, np.int64), None)
        else:
            own, places = subwords.places(group)
            yield _Part(group, sentence_scores, places, token_scores[:, len(frame.prefix) :][:, : own.shape[1]][own])


def _others(predictor: Predictor, aligner: Aligner, subwords: SubWords) -> Iterator[_Part]:
    """The sentences of which only the aligner can make batches."""

    def compute(members: Sequence[Encoded]) -> Iterator[Prediction]:
        batch = aligner.batch(members)
        sentence_scores, token_scores = predictor.probabilities(batch)
        if token_scores is None:
            yield from (Prediction(scores, None) for scores in sentence_scores)
        else:
            yield from map(Prediction, sentence_scores, aligner.tokens(batch, token_scores, members))

    found = in_groups(aligner, [*subwords.others.values()], predictor.token_budget, compute)
    for (number, one), prediction in zip(subwords.others.items(), found, strict=True):
        places = subwords.starts[number] + np.arange(len(one))
        yield _Part(np.array([number]), prediction.sentence_scores[None], places, prediction.token_scores)


def _each(predictor: Predictor, batches: Iterable[Batch]) -> Iterator[tuple[FloatArray, FloatArray | None]]:
    return (
        predictor.each(batches) if isinstance(predictor, PipelinedPredictor) else map(predictor.probabilities, batches)
    )


def _in_order(places: Sequence[IntArray], values: Sequence[FloatArray]) -> FloatArray:
    scattered = np.concatenate(values)
    ordered = np.empty_like(scattered)
    ordered[np.concatenate(places)] = scattered
    return ordered


def stream(
    predictor: Predictor, aligner: Aligner, sentences: Iterable[Sentence], *, at_once: int = AT_ONCE
) -> Iterator[tuple[Sentence, Encoded, Prediction]]:
    """Predictions for any number of sentences, in their order."""
    for chunk, encoded in in_chunks(aligner, sentences, at_once):
        yield from zip(chunk, encoded, predict(predictor, aligner, encoded), strict=True)


def words_of(encoded: Sequence[Encoded], predictions: Sequence[Prediction]) -> list[FloatArray]:
    """Word scores, (words, K) each, from the predictions of a network that scores words."""
    return [
        word_scores(sentence, one.token_scores)
        for sentence, one in zip(encoded, predictions, strict=True)
        if one.token_scores is not None
    ]


def in_chunks(
    aligner: Aligner, sentences: Iterable[Sentence], at_once: int = AT_ONCE
) -> Iterator[tuple[list[Sentence], list[Encoded]]]:
    """Sentences and their sub-words, `at_once` of them at a time."""
    remaining = iter(sentences)
    while chunk := list(islice(remaining, at_once)):
        yield chunk, aligner.encode(chunk)


def in_groups(
    aligner: Aligner, encoded: Sequence[Encoded], budget: int, compute: Callable[[Sequence[Encoded]], Iterable[R]]
) -> list[R]:
    """One result per sentence, in their order, computed for groups of like length within a budget of sub-words."""
    results: dict[int, R] = {}
    for group in by_token_budget([aligner.cost(e) for e in encoded], budget):
        results.update(zip(group, compute([encoded[i] for i in group]), strict=True))
    return [results[i] for i in range(len(encoded))]


def parts(batch: Batch, budget: int) -> list[slice]:
    """Cut a batch's windows into parts within a budget of sub-words: a long document has more of them."""
    windows, length = batch.input_ids.shape
    at_once = max(1, budget // length)
    return [slice(start, start + at_once) for start in range(0, windows, at_once)]
