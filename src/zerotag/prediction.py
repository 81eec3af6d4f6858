"""Sentences through whatever runs a network, in their own order, in batches of like length, in bounded memory.

No torch: a network may run in torch (`inference`) or in ONNX Runtime (`onnx.running`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from zerotag.align import Aligner, Batch, Encoded
from zerotag.batching import by_token_budget
from zerotag.types import FloatArray, Sentence

AT_ONCE = 1024  # sentences that are held, and sorted by length, at a time

R = TypeVar("R")


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


def predict(predictor: Predictor, aligner: Aligner, encoded: Sequence[Encoded]) -> list[Prediction]:
    """Predictions for sentences that are already encoded."""

    def compute(members: Sequence[Encoded]) -> Iterator[Prediction]:
        batch = aligner.batch(members)
        sentence_scores, token_scores = predictor.probabilities(batch)
        if token_scores is None:
            yield from (Prediction(scores, None) for scores in sentence_scores)
            return
        for scores, tokens in zip(sentence_scores, aligner.tokens(batch, token_scores, members), strict=True):
            yield Prediction(scores, np.ascontiguousarray(tokens))

    return in_groups(aligner, encoded, predictor.token_budget, compute)


def stream(
    predictor: Predictor, aligner: Aligner, sentences: Iterable[Sentence], *, at_once: int = AT_ONCE
) -> Iterator[tuple[Sentence, Encoded, Prediction]]:
    """Predictions for any number of sentences, in their order."""
    for chunk, encoded in in_chunks(aligner, sentences, at_once):
        yield from zip(chunk, encoded, predict(predictor, aligner, encoded), strict=True)


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
