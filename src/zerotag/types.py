"""What a sentence is, and what can be said about it. No torch, no files.

Three kinds of sentence keep word labels away from training by construction: a `Sentence` has no labels, an
`Example` has sentence labels and no place for word labels, a `GoldExample` has both and is for evaluation only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
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


NO_LABEL = Rule(word_threshold=math.inf, sentence_threshold=math.inf)
"""The rule for texts without words."""


def check_threshold(value: float) -> None:
    """Refuse a threshold that no score of a model can be on both sides of."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ZerotagError(f"the threshold is {value!r}; it must be a number from 0 to 1, as in 0.5")


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


def is_blank(sentence: Sentence) -> bool:
    """Whether there is no word to label: an empty text, or nothing but white space and control characters."""
    return not sentence.words or not sentence.text or sentence.text.isspace()


def decide(scored: Scored, label_names: Sequence[str], rules: Sequence[Rule]) -> Labelled:
    """Turn scores into labels, words and spans by one rule per label. A blank text has no label, whatever it scores."""
    sentence = scored.sentence
    if is_blank(sentence):
        rules = [NO_LABEL] * len(rules)
    by_label = [rule.words(scored.word_scores[:, k]) for k, rule in enumerate(rules)]
    # Lists, since looking at numbers one by one is slow in arrays.
    by_word = np.stack(by_label, axis=1).tolist()  # (words, labels)
    rows = zip(sentence.words, sentence.spans, scored.word_scores.tolist(), by_word, strict=True)
    words = tuple(
        Word(word, start, end, dict(zip(label_names, scores, strict=True)), tuple(compress(label_names, decisions)))
        for word, (start, end), scores, decisions in rows
    )
    verdicts = zip(label_names, rules, scored.sentence_scores, strict=True)
    return Labelled(
        text=sentence.text,
        scores=dict(zip(label_names, scored.sentence_scores, strict=True)),
        labels=tuple(name for name, rule, score in verdicts if rule.sentence(score)),
        words=words,
        spans=tuple(_spans(sentence.text, words, label_names)),
    )


def _spans(text: str, words: Sequence[Word], label_names: Sequence[str]) -> Iterable[Span]:
    for name in label_names:
        run: list[Word] = []
        for word in [*words, None]:
            if word is not None and name in word.labels:
                run.append(word)
            elif run:
                start, end = run[0].start, run[-1].end
                yield Span(text[start:end], start, end, name, max(w.scores[name] for w in run))
                run = []


def _strongest(scores: dict[str, float], labels: Sequence[str]) -> str | None:
    return max(labels, key=lambda name: scores[name], default=None)
