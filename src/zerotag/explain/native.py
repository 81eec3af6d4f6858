"""The model's own word scores: the soft attention it was trained with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from zerotag.errors import ZerotagError
from zerotag.explain.registry import ScorerArguments, ScorerSpec
from zerotag.inference.predictor import AT_ONCE, Predictor, stream
from zerotag.text.alignment import Aligner, word_scores
from zerotag.types import Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller


class NativeScorer:
    """Scores words by the soft attention of the network: one forward pass."""

    name = "native"

    def __init__(self, predictor: Predictor, aligner: Aligner, *, at_once: int = AT_ONCE) -> None:
        self._predictor = predictor
        self._aligner = aligner
        self._at_once = at_once
        self.passes = 0

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores of each sentence, in the order they come."""
        for sentence, encoded, prediction in stream(self._predictor, self._aligner, sentences, at_once=self._at_once):
            if prediction.token_scores is None:
                raise ZerotagError(
                    "this model is a plain sentence classifier (head cls) and does not score words: "
                    "choose another method, as in --method occlusion"
                )
            self.passes += self._aligner.cost(encoded)[0]
            yield Scored(
                sentence,
                tuple(prediction.sentence_scores.tolist()),
                word_scores(encoded, prediction.token_scores),
            )


def _create(labeller: Labeller, _: ScorerArguments) -> NativeScorer:
    return NativeScorer(labeller.predictor, labeller.aligner)


SCORER = ScorerSpec(create=_create)
