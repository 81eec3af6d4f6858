"""What a sentence is, and what can be said about it. No torch, no files.

Three kinds of sentence keep word labels away from training by construction: a `Sentence` has no labels, an
`Example` has sentence labels and no place for word labels, a `GoldExample` has both and is for evaluation only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text and its words; `spans[i]` are the character offsets of `words[i]` in `text`."""

    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def from_words(cls, words: Iterable[str]) -> Sentence:
        """Words that are already split, joined by single spaces."""
        words = tuple(words)
        spans = []
        start = 0
        for word in words:
            spans.append((start, start + len(word)))
            start += len(word) + 1
        return cls(" ".join(words), words, tuple(spans))

    @classmethod
    def from_spans(cls, text: str, spans: Sequence[tuple[int, int]]) -> Sentence:
        """A text and where its words start and end, as a segmenter finds them."""
        # A list first, since large inputs come through here.
        return cls(text, tuple([text[start:end] for start, end in spans]), tuple(spans))


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence and its sentence labels, one per label name: all that training ever sees."""

    sentence: Sentence
    labels: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class GoldExample:
    """A sentence with its sentence labels and, where somebody annotated them, its word labels (word by label)."""

    sentence: Sentence
    labels: tuple[bool, ...]
    word_labels: tuple[tuple[bool, ...], ...] | None


T = TypeVar("T", Example, GoldExample)


@dataclass(frozen=True, slots=True)
class Corpus(Generic[T]):
    """Examples, the names of their labels, and how the source wrote "none of them" (`O`, `c`, `0`)."""

    label_names: tuple[str, ...]
    examples: tuple[T, ...]
    negative: str = "O"

    def __len__(self) -> int:
        return len(self.examples)


@dataclass(frozen=True, slots=True)
class Rule:
    """How the scores of one label become yes or no, and where the numbers came from."""

    word_threshold: float = 0.5
    sentence_threshold: float = 0.5
    origin: str = "fixed"

    def words(self, scores: FloatArray) -> BoolArray:
        """Decisions for the word scores of one sentence and one label."""
        decisions: BoolArray = scores >= self.word_threshold
        return decisions

    def sentence(self, score: float) -> bool:
        """Decision for the sentence score of one label."""
        return score >= self.sentence_threshold


class ReliabilityBin(NamedTuple):
    """Scores that lie close together, and how much of what has them is truly positive."""

    score: float
    """Their mean."""

    positive: float
    """The share that is truly positive: the same as the mean score, if scores are probabilities."""

    size: int
    """How many have these scores."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """What a method says of a sentence: one score per label, and one per word and label, shape (words, labels)."""

    sentence: Sentence
    sentence_scores: tuple[float, ...]
    word_scores: FloatArray


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its place in the text, a score per label and the labels it was given."""

    text: str
    start: int
    end: int
    scores: dict[str, float]
    labels: tuple[str, ...]

    @property
    def score(self) -> float:
        """The score of the strongest label."""
        return max(self.scores.values())

    @property
    def label(self) -> str | None:
        """The strongest of the labels it was given, if any."""
        return _strongest(self.scores, self.labels)


@dataclass(frozen=True, slots=True)
class Span:
    """Neighbouring words with the same label; its score is that of its strongest word."""

    text: str
    start: int
    end: int
    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence as a user sees it: scores and decisions by label name, words and spans."""

    text: str
    scores: dict[str, float]
    labels: tuple[str, ...]
    words: tuple[Word, ...]
    spans: tuple[Span, ...]

    @property
    def score(self) -> float:
        """The sentence score of the strongest label."""
        return max(self.scores.values())

    @property
    def label(self) -> str | None:
        """The strongest of the labels the sentence was given, if any."""
        return _strongest(self.scores, self.labels)


def _strongest(scores: dict[str, float], labels: Sequence[str]) -> str | None:
    return max(labels, key=lambda name: scores[name], default=None)
