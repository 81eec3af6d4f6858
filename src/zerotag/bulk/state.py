"""What a run has done so far: where it stands in the input, and what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from zerotag.bulk.contents import Content
from zerotag.bulk.inputs import BEGINNING, Cursor
from zerotag.decisions import decide_sentence, decide_words, is_blank
from zerotag.io import Position
from zerotag.types import Rule, Scored


@dataclass(slots=True)
class State:
    """How far a run has come; all of it can be written down, and taken up again."""

    cursor: Cursor = BEGINNING
    read: tuple[Content, ...] = ()
    """What was read by then of the files that were begun."""
    sentences: int = 0
    words: int = 0
    rejected: int = 0
    seconds: float = 0.0
    positive_sentences: Counter[str] = field(default_factory=Counter)
    """How many sentences have each label."""
    positive_words: Counter[str] = field(default_factory=Counter)
    """How many words have each label."""

    def count(self, scored: Sequence[Scored], label_names: Sequence[str], rules: Sequence[Rule]) -> None:
        """Add some results."""
        if not scored:
            return
        word_scores = np.concatenate([one.word_scores for one in scored])
        self.sentences += len(scored)
        self.words += len(word_scores)
        words = decide_words(word_scores, rules).sum(axis=0).tolist()
        verdicts = [decide_sentence(one.sentence_scores, rules) for one in scored if not is_blank(one.sentence)]
        for k, name in enumerate(label_names):
            self.positive_sentences[name] += sum(verdict[k] for verdict in verdicts)
            self.positive_words[name] += words[k]

    def add(self, other: State) -> None:
        """Add what was counted elsewhere."""
        self.sentences += other.sentences
        self.words += other.words
        self.rejected += other.rejected
        self.seconds += other.seconds
        self.positive_sentences.update(other.positive_sentences)
        self.positive_words.update(other.positive_words)

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        counters = {name: dict(values[name]) for name in ("positive_sentences", "positive_words")}
        return {**values, **counters, "cursor": [self.cursor.file, *self.cursor.position]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> State:
        """Back from plain data."""
        file, *position = data["cursor"]
        counters = {name: Counter(data[name]) for name in ("positive_sentences", "positive_words")}
        read = tuple(Content(*one) for one in data["read"])
        return cls(**{**data, **counters, "read": read, "cursor": Cursor(file, Position(*position))})
