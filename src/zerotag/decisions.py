"""From scores to decisions: which words and sentences have a label, and neighbouring words as spans."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import compress

import numpy as np

from zerotag.errors import ZerotagError
from zerotag.types import BoolArray, FloatArray, Labelled, Rule, Scored, Sentence, Span, Word

NO_LABEL = Rule(word_threshold=math.inf, sentence_threshold=math.inf)
"""The rule for texts without words."""


def check_threshold(value: float) -> None:
    """Refuse a threshold that no score of a model can be on both sides of."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ZerotagError(f"the threshold is {value!r}; it must be a number from 0 to 1, as in 0.5")


def is_blank(sentence: Sentence) -> bool:
    """Whether there is no word to label: an empty text, or nothing but white space and control characters."""
    return not sentence.words or not sentence.text or sentence.text.isspace()


def decide_sentence(scores: Sequence[float], rules: Sequence[Rule]) -> list[bool]:
    """Which labels a sentence has by its scores; of labels that exclude one another the strongest, if it has any."""
    given = [rule.sentence(score) for rule, score in zip(rules, scores, strict=True)]
    if not rules[0].exclusive or sum(given) < 2:
        return given
    strongest = max(compress(range(len(given)), given), key=scores.__getitem__)
    return [k == strongest for k in range(len(given))]


def decide_words(scores: FloatArray, rules: Sequence[Rule]) -> BoolArray:
    """Which labels words have by their scores (words, labels); as above, a word argues for one class."""
    given = np.stack([rule.words(scores[:, k]) for k, rule in enumerate(rules)], axis=1)
    if not rules[0].exclusive:
        return given
    strongest = np.where(given, scores, -np.inf).argmax(axis=1)
    only: BoolArray = given & (np.arange(len(rules)) == strongest[:, None])
    return only


def decide(scored: Scored, label_names: Sequence[str], rules: Sequence[Rule]) -> Labelled:
    """Turn scores into labels, words and spans by one rule per label. A blank text has no label, whatever it scores."""
    sentence = scored.sentence
    if is_blank(sentence):
        rules = [NO_LABEL] * len(rules)
    # Lists, since looking at numbers one by one is slow in arrays.
    by_word = decide_words(scored.word_scores, rules).tolist()  # (words, labels)
    rows = zip(sentence.words, sentence.spans, scored.word_scores.tolist(), by_word, strict=True)
    words = tuple(
        Word(word, start, end, dict(zip(label_names, scores, strict=True)), tuple(compress(label_names, decisions)))
        for word, (start, end), scores, decisions in rows
    )
    return Labelled(
        text=sentence.text,
        scores=dict(zip(label_names, scored.sentence_scores, strict=True)),
        labels=tuple(compress(label_names, decide_sentence(scored.sentence_scores, rules))),
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
