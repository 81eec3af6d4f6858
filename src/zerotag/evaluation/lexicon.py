"""A labelled corpus as a whole: for each label the words that carry it, how often, how strongly, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from heapq import heappush, heappushpop
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerotag.types import Labelled, Rule

THRESHOLDS: NDArray[np.float64] = np.arange(101) / 100
EXAMPLES = 5
_CONTEXT = 60  # characters on either side of a word


class Hit(NamedTuple):
    """A marked word with what stands around it."""

    score: float
    sentence: int
    """The number of its sentence, from 1."""

    left: str
    word: str
    right: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A word that carries a label somewhere; upper and lower case are one word."""

    word: str
    """As it is written most often."""

    marked: int
    """How often it was given the label."""

    occurrences: int
    sentences: int
    """In how many sentences it was given the label."""

    mean_score: float
    """Over where it was given the label."""

    examples: tuple[Hit, ...]
    """The highest scores, at most one of a sentence."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of one label, those marked most often first, and what other thresholds would mark."""

    label: str
    rule: Rule
    sentences: int
    """How many have the label."""

    sentences_with_a_marked_word: int
    marked: int
    entries: tuple[Entry, ...]
    words_reaching: tuple[float, ...]
    """The share of all words whose score reaches each of `THRESHOLDS`."""

    sentences_reaching: tuple[float, ...]
    """The share of the sentences that have a word whose score reaches it."""


@dataclass(frozen=True, slots=True)
class LabelledCorpus:
    """How much was labelled, and the lexicon of each label."""

    sentences: int
    words: int
    lexicons: tuple[Lexicon, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain types: counts, and by label its words and their examples; shares beside the thresholds they are for."""
        labels = {
            one.label: {name: value for name, value in asdict(one).items() if name != "label"} for one in self.lexicons
        }
        for one in self.lexicons:
            labels[one.label]["entries"] = [
                {**asdict(entry), "examples": [hit._asdict() for hit in entry.examples]} for entry in one.entries
            ]
        return {
            "sentences": self.sentences,
            "words": self.words,
            "thresholds": THRESHOLDS.tolist(),
            "labels": labels,
        }


def labelled_corpus(results: Iterable[Labelled], label_names: Sequence[str], rules: Sequence[Rule]) -> LabelledCorpus:
    """Go through the results of a corpus once; what is kept grows with the words that differ, not with the corpus."""
    counting = [_Counting() for _ in label_names]
    occurrences: Counter[str] = Counter()
    sentences = 0
    for sentences, result in enumerate(results, start=1):
        occurrences.update(word.text.casefold() for word in result.words)
        for label, one in zip(label_names, counting, strict=True):
            one.add(label, sentences, result)
    words = occurrences.total()
    return LabelledCorpus(
        sentences,
        words,
        tuple(
            one.lexicon(label, rule, occurrences, sentences, words)
            for label, rule, one in zip(label_names, rules, counting, strict=True)
        ),
    )


@dataclass(slots=True)
class _Word:
    forms: Counter[str] = field(default_factory=Counter)
    sentences: int = 0
    total: float = 0.0
    best: list[tuple[float, int, Hit]] = field(default_factory=list)


@dataclass(slots=True)
class _Counting:
    """What is counted for one label."""

    words: dict[str, _Word] = field(default_factory=dict)
    sentences: int = 0
    sentences_with_a_marked_word: int = 0
    word_scores: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(THRESHOLDS), np.int64))
    """How many words reach each threshold, and not the next one."""

    highest_scores: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(THRESHOLDS), np.int64))

    def add(self, label: str, number: int, result: Labelled) -> None:
        self.sentences += label in result.labels
        hits: dict[str, Hit] = {}
        for word in result.words:
            if label not in word.labels:
                continue
            score, key = word.scores[label], word.text.casefold()
            found = self.words.setdefault(key, _Word())
            found.forms[word.text] += 1
            found.total += score
            if key not in hits or score > hits[key].score:
                left, right = (
                    result.text[max(0, word.start - _CONTEXT) : word.start],
                    result.text[word.end :][:_CONTEXT],
                )
                hits[key] = Hit(score, number, left, word.text, right)
        for key, hit in hits.items():
            found = self.words[key]
            found.sentences += 1
            # Of equal scores the earlier sentence is the better example.
            (heappush if len(found.best) < EXAMPLES else heappushpop)(found.best, (hit.score, -number, hit))
        self.sentences_with_a_marked_word += bool(hits)
        if result.words:
            scores = np.array([word.scores[label] for word in result.words])
            place = (np.searchsorted(THRESHOLDS, scores, side="right") - 1).clip(min=0)
            np.add.at(self.word_scores, place, 1)
            self.highest_scores[place.max()] += 1

    def lexicon(self, label: str, rule: Rule, occurrences: Counter[str], sentences: int, words: int) -> Lexicon:
        entries = [
            Entry(
                word=word.forms.most_common(1)[0][0],
                marked=word.forms.total(),
                occurrences=occurrences[key],
                sentences=word.sentences,
                mean_score=word.total / word.forms.total(),
                examples=tuple(hit for _, _, hit in sorted(word.best, reverse=True)),
            )
            for key, word in self.words.items()
        ]
        entries.sort(key=lambda entry: (-entry.marked, -entry.mean_score, entry.word))
        return Lexicon(
            label,
            rule,
            self.sentences,
            self.sentences_with_a_marked_word,
            sum(entry.marked for entry in entries),
            tuple(entries),
            _reaching(self.word_scores, words),
            _reaching(self.highest_scores, sentences),
        )


def _reaching(counts: NDArray[np.int64], total: int) -> tuple[float, ...]:
    return tuple((counts[::-1].cumsum()[::-1] / max(total, 1)).tolist())
