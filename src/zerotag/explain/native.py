"""The model's own word scores: the soft attention it was trained with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

from zerotag.columns import ScoredColumns, SentenceColumns
from zerotag.errors import ZerotagError
from zerotag.explain.registry import ScorerArguments, ScorerSpec
from zerotag.inference.predictor import AT_ONCE, Predictor, predict_row
from zerotag.inference.prefetch import prefetched
from zerotag.text.alignment import Aligner, Encoded, word_scores
from zerotag.text.many_texts import words_of
from zerotag.text.segmentation import Segmenter, Text
from zerotag.text.subwords import SubWords, encode_row
from zerotag.types import Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller


_SUBWORDS = 4  # of a text at least, to have enough of them for a few batches of like length


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
        remaining = iter(sentences)
        while chunk := list(islice(remaining, self._at_once)):
            columns = SentenceColumns.of(chunk)
            yield from self.score_row(columns, *encode_row(self._aligner, columns)).scored(chunk)

    def score_texts(self, texts: Sequence[Text], segment: Segmenter) -> Iterator[ScoredColumns]:
        """Scores of texts in parts; the words of the next part are found while the network runs.

        A GPU has more of them at a time, so that its batches are full.
        """
        at_once = max(self._at_once, self._predictor.token_budget // _SUBWORDS)

        def read(part: Sequence[Text]) -> tuple[SentenceColumns, SubWords, Encoded]:
            sentences = words_of(part, segment)
            return sentences, *encode_row(self._aligner, sentences)

        parts = (texts[start : start + at_once] for start in range(0, len(texts), at_once))
        with closing(prefetched(read, parts, 1)) as being_read:
            for part in being_read:
                yield self.score_row(*part)

    def score_row(self, sentences: SentenceColumns, subwords: SubWords, row: Encoded) -> ScoredColumns:
        """Scores of sentences that `encode_row` has encoded."""
        scores = predict_row(self._predictor, self._aligner, subwords)
        if scores.tokens is None:
            raise ZerotagError(
                "this model is a plain sentence classifier (head cls) and does not score words: "
                "choose another method, as in --method occlusion"
            )
        self.passes += len(sentences) + sum(self._aligner.cost(one)[0] - 1 for one in subwords.others.values())
        return ScoredColumns(sentences, scores.sentences, word_scores(row, scores.tokens))


def _create(labeller: Labeller, _: ScorerArguments) -> NativeScorer:
    return NativeScorer(labeller.predictor, labeller.aligner)


SCORER = ScorerSpec(create=_create)
