"""Many sentences, and what a method says of them, as columns: millions of words without an object for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from zerotag.types import FloatArray, IntArray, Scored, Sentence


@dataclass(frozen=True, slots=True, eq=False)
class SentenceColumns:
    """Texts and the places of their words; S sentences have W words together."""

    texts: list[str]  # S
    counts: IntArray  # (S,): words of each
    spans: IntArray  # (W, 2)
    starts: list[int | None]  # S: where each begins in the document that it was cut out of, if it was

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> SentenceColumns:
        """Sentences as columns."""
        return cls(
            [sentence.text for sentence in sentences],
            np.array([len(sentence.spans) for sentence in sentences], np.int64),
            pairs(sentence.spans for sentence in sentences),
            [sentence.start for sentence in sentences],
        )

    @classmethod
    def joined(cls, parts: Sequence[SentenceColumns]) -> SentenceColumns:
        """All parts as one."""
        return cls(
            [*chain.from_iterable(part.texts for part in parts)],
            np.concatenate([np.zeros(0, np.int64), *(part.counts for part in parts)]),
            np.concatenate([np.zeros((0, 2), np.int64), *(part.spans for part in parts)]),
            [*chain.from_iterable(part.starts for part in parts)],
        )

    def part(self, some: slice, their_words: slice) -> SentenceColumns:
        """Some neighbours of them."""
        return SentenceColumns(self.texts[some], self.counts[some], self.spans[their_words], self.starts[some])

    def sentences(self) -> Iterator[Sentence]:
        """The sentences one by one."""
        spans = zip(*self.spans.T.tolist(), strict=True)
        for text, count, start in zip(self.texts, self.counts.tolist(), self.starts, strict=True):
            its_spans = tuple(islice(spans, count))
            yield Sentence(text, tuple([text[first:end] for first, end in its_spans]), its_spans, start)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredColumns:
    """What a method says of sentences: scores per label, (S, K), and per word and label, (W, K)."""

    sentences: SentenceColumns
    sentence_scores: FloatArray
    word_scores: FloatArray

    def __len__(self) -> int:
        return len(self.sentences)

    @classmethod
    def of(cls, scored: Sequence[Scored]) -> ScoredColumns:
        """What is said of sentences as columns."""
        return cls(
            SentenceColumns.of([one.sentence for one in scored]),
            np.array([one.sentence_scores for one in scored]),  # in double precision, as they are
            np.concatenate([one.word_scores for one in scored]),
        )

    @classmethod
    def joined(cls, parts: Sequence[ScoredColumns], labels: int) -> ScoredColumns:
        """All parts as one, which may be none."""
        nothing = np.zeros((0, labels), np.float32)
        return cls(
            SentenceColumns.joined([part.sentences for part in parts]),
            np.concatenate([nothing, *(part.sentence_scores for part in parts)]),
            np.concatenate([nothing, *(part.word_scores for part in parts)]),
        )

    def part(self, some: slice, their_words: slice) -> ScoredColumns:
        """What is said of some neighbours."""
        return ScoredColumns(
            self.sentences.part(some, their_words), self.sentence_scores[some], self.word_scores[their_words]
        )

    def scored(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """The same one by one, for the sentences that the columns are of."""
        by_sentence = np.split(self.word_scores, np.cumsum(self.sentences.counts)[:-1])
        for sentence, sentence_scores, word_scores in zip(
            sentences, self.sentence_scores.tolist(), by_sentence, strict=True
        ):
            yield Scored(sentence, tuple(sentence_scores), word_scores)


def pairs(of_sentences: Iterable[Iterable[tuple[int, int]]]) -> IntArray:
    """Pairs of all sentences: (all, 2)."""
    numbers = chain.from_iterable(chain.from_iterable(of_sentences))
    return np.fromiter(numbers, np.int64).reshape(-1, 2)
