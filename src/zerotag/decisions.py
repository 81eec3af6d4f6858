"""From scores to decisions: which words and sentences have a label, and neighbouring words as spans."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, groupby

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
    # Lists, since looking at numbers one by one is slow in arrays.
    scores = scored.word_scores.T.tolist()
    given = decide_words(scored.word_scores, rules).T.tolist()
    return labelled(scored.sentence, scored.sentence_scores, scores, given, label_names, rules)


def labelled(
    sentence: Sentence,
    sentence_scores: Sequence[float],
    word_scores: Sequence[Sequence[float]],
    given: Sequence[Sequence[bool]],
    label_names: Sequence[str],
    rules: Sequence[Rule],
) -> Labelled:
    """A sentence as a user sees it, from scores per label and, per label and word, a score and whether it is given.

    A blank text has no label, whatever it scores.
    """
    if is_blank(sentence):
        rules = [NO_LABEL] * len(rules)
        given = [[False] * len(sentence.words)] * len(rules)
    places = zip(sentence.words, sentence.spans, strict=True)
    if len(label_names) == 1:  # as in most models, where a large part of the time would be spent here
        name, its_label = label_names[0], {True: (label_names[0],), False: ()}
        columns = zip(places, word_scores[0], given[0], strict=True)
        words = tuple([Word(word, start, end, {name: s}, its_label[yes]) for (word, (start, end)), s, yes in columns])
    else:
        rows = zip(places, zip(*word_scores, strict=True), zip(*given, strict=True), strict=True)
        words = tuple(
            Word(word, start, end, dict(zip(label_names, scores, strict=True)), tuple(compress(label_names, decisions)))
            for (word, (start, end)), scores, decisions in rows
        )
    return Labelled(
        text=sentence.text,
        scores=dict(zip(label_names, sentence_scores, strict=True)),
        labels=tuple(compress(label_names, decide_sentence(sentence_scores, rules))),
        words=words,
        spans=tuple(_spans(sentence.text, words, given, label_names)),
        start=sentence.start,
    )


def _spans(
    text: str, words: Sequence[Word], given: Sequence[Sequence[bool]], label_names: Sequence[str]
) -> Iterable[Span]:
    for name, its_own in zip(label_names, given, strict=True):
        for first, end in runs(its_own):
            run = words[first:end]
            start, stop = run[0].start, run[-1].end
            yield Span(text[start:stop], start, stop, name, max(word.scores[name] for word in run))


def runs(given: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The first word of each run of neighbours that all have a label, and the word after its last."""
    if True not in given:
        return
    place = 0
    for has_label, members in groupby(given):
        first, place = place, place + sum(1 for _ in members)
        if has_label:
            yield first, place
