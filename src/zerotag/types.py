"""What a sentence is, and what can be said about it. No torch, no files.

Four kinds of sentence keep word labels away from zero-shot training by construction: a `Sentence` has no labels, an
`Example` has sentence labels and no place for word labels, a `GoldExample` has both and is for evaluation only. A
`CorrectedExample` has both as well and is the one way by which word labels may be learnt from, which its models say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from zerotag.errors import ZerotagError

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text and its words; `spans[i]` are the character offsets of `words[i]` in `text`."""

    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    start: int | None = None
    """Where it begins in the document that it was cut out of, if it was."""

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


@dataclass(frozen=True, slots=True)
class CorrectedExample:
    """A sentence whose words somebody labelled, to learn from: a few of them settle thresholds and conventions.

    What learns from one is not zero-shot, and says so.
    """

    sentence: Sentence
    labels: tuple[bool, ...]
    word_labels: tuple[tuple[bool, ...], ...]


T = TypeVar("T", Example, GoldExample, CorrectedExample)


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
    exclusive: bool = False
    """Whether the labels of the model exclude one another: of those that a sentence or word reaches, it has one."""

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
    start: int | None = None
    """Where the text begins in the document that it was cut out of, if it was."""

    @property
    def score(self) -> float:
        """The sentence score of the strongest label."""
        return max(self.scores.values())

    @property
    def label(self) -> str | None:
        """The strongest of the labels the sentence was given, if any."""
        return _strongest(self.scores, self.labels)

    def _repr_html_(self) -> str:
        # Notebooks ask for it; looked up here, since this module stands below everything that draws.
        html: str = import_module("zerotag.render.notebook").fragment(self)
        return html

    def corrected(self, words: Mapping[int, str | Iterable[str] | None]) -> CorrectedExample:
        """This sentence with some words corrected and all others as they were labelled, to tune or update a labeller.

        Args:
            words: by their number, from 0, the label of a word, several, or None for no label.

        Returns:
            The example. The sentence has the labels that its words have.

        Raises:
            ZerotagError: there is no such word or label.

        Example:
            >>> labeller.tune([result.corrected({2: "hedge", 5: None})])  # doctest: +SKIP
        """
        names = tuple(self.scores)
        given = [frozenset(word.labels) for word in self.words]
        for number, labels in words.items():
            if not 0 <= number < len(given):
                raise ZerotagError(f"there is no word {number}; they are numbered from 0 to {len(given) - 1}")
            given[number] = frozenset([labels] if isinstance(labels, str) else labels or ())
            if unknown := given[number].difference(names):
                raise ZerotagError(f"there is no label {min(unknown)[:40]!r}; there are: {', '.join(names)}")
        word_labels = tuple(tuple(name in labels for name in names) for labels in given)
        sentence = Sentence(
            self.text,
            tuple(word.text for word in self.words),
            tuple((word.start, word.end) for word in self.words),
        )
        return CorrectedExample(sentence, tuple(any(name in one for one in given) for name in names), word_labels)


def _strongest(scores: dict[str, float], labels: Sequence[str]) -> str | None:
    return max(labels, key=lambda name: scores[name], default=None)
