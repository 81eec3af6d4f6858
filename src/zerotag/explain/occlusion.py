"""Occlusion: how much of a label's probability is lost when a word is masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from zerotag.explain.masking import Masker, Versions
from zerotag.explain.registry import ScorerArguments, ScorerSpec, in_torch, mask_id
from zerotag.modeling.network import Network
from zerotag.text.alignment import Aligner
from zerotag.types import Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller


class OcclusionScorer:
    """A word's score is the label's probability less that of the sentence with the word masked."""

    name = "occlusion"

    def __init__(self, network: Network, aligner: Aligner, mask_id: int) -> None:
        self._masker = Masker(network, aligner, mask_id)

    @property
    def passes(self) -> int:
        """Forward passes so far: one per sentence and one per word."""
        return self._masker.passes

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores of each sentence, in the order they come."""
        for versions, probabilities in self._masker.probabilities(map(_plan, sentences)):
            untouched, masked = probabilities[0], probabilities[1:]
            yield Scored(versions.sentence, tuple(untouched.tolist()), untouched - masked)


def _plan(sentence: Sentence) -> Versions:
    words = len(sentence.words)
    kept = np.vstack([np.ones((1, words), np.bool_), ~np.eye(words, dtype=np.bool_)])
    return Versions(sentence, kept, np.ones(words + 1, np.int64))


def _create(labeller: Labeller, arguments: ScorerArguments) -> OcclusionScorer:
    trained = in_torch(labeller, arguments.method)
    return OcclusionScorer(trained.network, trained.aligner, mask_id(trained, arguments.method))


SCORER = ScorerSpec(create=_create, cost=32)
