"""Heat maps of a sentence: one row per method, one column per word, shaded by score. No torch."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from zerotag.render.scale import position
from zerotag.text.printable import one_line
from zerotag.types import FloatArray, Rule, Sentence

LONGEST_SHOWN, LONGEST_NAME = 24, 44  # characters
_DECIMALS = 6
_NOT_IN_XML = str.maketrans({"\ufffe": "�", "\uffff": "�"})


class Cell(NamedTuple):
    """A word's score as it is shown: written, as a shade from 0 to 1, and marked if the word is positive."""

    text: str
    shade: float
    marked: bool


@dataclass(frozen=True, slots=True)
class HeatRow:
    """What one method says of the words of a sentence."""

    name: str
    scores: tuple[float, ...]
    threshold: float | None = None
    """From which on a word is positive; None for a method that has none."""

    positive: tuple[bool, ...] = ()
    """Which words were decided to be positive; empty for a method without threshold."""

    within_0_and_1: bool = True
    """Whether scores are between 0 and 1. If not, the sentence's own highest and lowest end the scale."""

    @classmethod
    def of(cls, name: str, scores: FloatArray, rule: Rule, *, within_0_and_1: bool) -> HeatRow:
        """The row of a method whose words are decided by a rule."""
        positive = rule.words(scores)
        return cls(name, tuple(map(float, scores)), rule.word_threshold, tuple(map(bool, positive)), within_0_and_1)

    @property
    def shown_name(self) -> str:
        """The name as it can be drawn: of a long one the end, which says the method."""
        return drawable(self.name if len(self.name) <= LONGEST_NAME else "…" + self.name[1 - LONGEST_NAME :])

    def shades(self) -> list[float]:
        """From 0 to 1: where the scores are around the threshold or, without one, on the way to the highest score."""
        if self.threshold is None:
            highest = max(self.scores)
            return [max(0.0, score / highest) if highest > 0 else 0.0 for score in self.scores]
        if self.within_0_and_1:
            return [position(score, self.threshold) for score in self.scores]
        low, high = min(0.0, self.threshold, *self.scores), max(self.threshold, *self.scores)
        length = high - low or 1.0
        return [position((score - low) / length, (self.threshold - low) / length) for score in self.scores]

    def score_texts(self) -> list[str]:
        """The scores as they stand in cells; of a method with a scale of its own they may all be small."""
        unit = self.threshold is not None and self.within_0_and_1
        decimals = 2 if unit or max(map(abs, self.scores)) >= 0.1 else 4
        return [f"{score:z.{decimals}f}" for score in self.scores]

    def cells(self) -> list[Cell]:
        """All that is shown of each word."""
        marks = self.positive or (False,) * len(self.scores)
        return [*map(Cell, self.score_texts(), self.shades(), marks)]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The rows of one label under the words of one sentence."""

    title: str
    words: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    gold: tuple[bool, ...] = ()
    """Which words are truly positive; empty if nobody knows."""

    def shown_words(self) -> list[str]:
        """The words as they can be drawn: in one line, not too long."""
        return [shortened(word) for word in self.words]

    def gold_marks(self) -> tuple[bool, ...]:
        """Whether each word is to be marked as truly positive."""
        return self.gold or (False,) * len(self.words)

    @property
    def right_to_left(self) -> bool:
        """Whether most letters are of a script that is."""
        kinds = [unicodedata.bidirectional(character) for word in self.words for character in word]
        return sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L")


def shortened(text: str) -> str:
    """The text in one line and at most so many characters that it can be drawn."""
    return drawable(text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…")


def drawable(text: str) -> str:
    """The text in one line, with nothing that a picture or page cannot hold."""
    return one_line(text).translate(_NOT_IN_XML)


def bands(widths: Sequence[float], room: float) -> Iterator[slice]:
    """Columns, by their widths, in groups that fit beside each other, at least one in each."""
    start, used = 0, 0.0
    for column, width in enumerate(widths):
        if column > start and used + width > room:
            yield slice(start, column)
            start, used = column, 0.0
        used += width
    yield slice(start, len(widths))


def record(sentence: Sentence, maps: Sequence[HeatMap]) -> dict[str, Any]:
    """Words and scores as plain data: the rows of each label under `labels`."""
    return {
        "text": sentence.text,
        "words": [
            {"text": word, "start": start, "end": end}
            for word, (start, end) in zip(sentence.words, sentence.spans, strict=True)
        ],
        "labels": {
            one.title: [
                {
                    "name": row.name,
                    "threshold": row.threshold,
                    "scores": [round(score, _DECIMALS) + 0.0 for score in row.scores],
                    "positive": list(row.positive),
                }
                for row in one.rows
            ]
            for one in maps
        },
    }
