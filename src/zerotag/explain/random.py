"""The random baseline, and draws that depend on nothing but a seed and a sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from zerotag.explain.registry import ScorerArguments, ScorerSpec
from zerotag.types import Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller


class RandomScorer:
    """Uniform scores in [0, 1).

    The same sentence gets the same scores wherever it stands. Nothing is said of sentences: their score is always 0.5.
    """

    name = "random"
    passes = 0

    def __init__(self, labels: int, *, seed: int = 0) -> None:
        self._labels = labels
        self._seed = seed

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores of each sentence, in the order they come."""
        for sentence in sentences:
            draws = draws_for(sentence, self._seed)
            scores = draws.random((len(sentence.words), self._labels), dtype=np.float32)
            yield Scored(sentence, (0.5,) * self._labels, scores)


def draws_for(sentence: Sentence, seed: int) -> np.random.Generator:
    """A source of random numbers that follows from the seed and the sentence's words alone."""
    words = "\0".join(sentence.words).encode("utf-8", "surrogatepass")
    return np.random.default_rng([seed, int.from_bytes(hashlib.blake2b(words, digest_size=16).digest())])


def _create(labeller: Labeller, arguments: ScorerArguments) -> RandomScorer:
    return RandomScorer(len(labeller.label_names), seed=arguments.seed)


SCORER = ScorerSpec(create=_create, served=False, scores_sentences=False)
