"""Pseudo-labels of words from a teacher that has learnt sentence labels, for the student that people get.

Soft attention finds the words that carry a label, but not only them: a token beside a cue has seen the cue and can
collect its evidence. Two things tell them apart. The shallower a layer, the less has been collected, so scores are
averaged over several depths. And evidence that was collected is gone when its source is hidden: so each of the
strongest words of a sentence, by the upper layers and by the lowest, is hidden in turn, and a word is worth its score
with everything in view times its lowest score with another word hidden.

Some words raise a false alarm wherever they stand, such as those of a topic that is often written about badly. They do
so in sentences without the label as well, where no word is positive. What a word scores there is taken off.

These contextual pseudo-labels suit corpora whose evidence is in how words stand together, such as errors. Where words
alone tell the label, such as insults, those of `lexical` take their place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from zerotag.text.alignment import Aligner, Encoded, on_tokens
from zerotag.training import lexical
from zerotag.training.observations import Observed, observe
from zerotag.training.teacher import DoubleReading, Teacher
from zerotag.types import BoolArray, FloatArray

UNSEEN = 5  # as if each word had scored 0 so many times more, for what is met once says little


class Sentences(NamedTuple):
    """Sentences as sub-words and as words, with their labels, (sentences, K)."""

    encoded: Sequence[Encoded]
    words: Sequence[Sequence[str]]
    labels: BoolArray


class PseudoLabels(NamedTuple):
    """What the words of the training sentences should score, and how far that is lexical, by label."""

    words: list[FloatArray]
    lexical_weights: FloatArray


def pseudo_labels(
    teacher: Teacher, aligner: Aligner, train: Sentences, dev: Sentences, mask_id: int | None
) -> PseudoLabels:
    """What a teacher says of each word, (words, K): from 0 to 1 in a sentence with the label, else 0.

    Args:
        dev: sentences that the teacher has not learnt from; their sentence labels say how far words alone tell a label.
        mask_id: the encoder's mask token, which stands around a word that is shown alone.
    """
    reading = DoubleReading(teacher)
    observed = observe(reading, aligner, train.encoded, train.labels)
    contextual = contextual_worth(observed, train.words, train.labels)
    if len(teacher.depths) < lexical.FEWEST_LAYERS:
        return PseudoLabels(contextual, np.zeros(train.labels.shape[1], np.float32))
    alone = lexical.verdicts_on_lone_words(teacher, aligner, (*train.words, *dev.words), mask_id)
    weights = lexical.weights(teacher, aligner, dev.encoded, dev.words, dev.labels, alone)
    if not weights.any():
        return PseudoLabels(contextual, weights)
    seen = observe(reading, aligner, dev.encoded, np.ones_like(dev.labels))
    by_word = lexical.lexical_worth(observed, train.words, train.labels, seen, dev.words, dev.labels, alone)
    return PseudoLabels(
        [(1 - weights) * one + weights * other for one, other in zip(contextual, by_word, strict=True)], weights
    )


def contextual_worth(
    observed: Sequence[Observed], words: Sequence[Sequence[str]], labels: BoolArray
) -> list[FloatArray]:
    """Scores in view times scores with others hidden, less false alarms; relative to the best word of a sentence."""
    worth = [np.zeros_like(one.words) for one in observed]
    for k in range(labels.shape[1]):
        positive, negative = (np.flatnonzero(labels[:, k] == has).tolist() for has in (True, False))
        usual = false_alarms((words[i], observed[i].words[:, k]) for i in negative)
        for i in positive:
            alarm = np.array([usual.get(word.lower(), 0.0) for word in words[i]], np.float32)
            in_view, lowest = observed[i].words[:, k], observed[i].lowest[:, k]
            worth[i][:, k] = _relative(np.maximum(in_view - alarm, 0) * np.maximum(lowest - alarm, 0))
    return worth


def token_targets(sentences: Sequence[Encoded], said: Sequence[Sequence[FloatArray]]) -> list[FloatArray]:
    """What each token should score, (tokens, K): the average of what each teacher says of the words."""
    return [
        on_tokens(sentence, np.mean(words, axis=0, dtype=np.float32))
        for sentence, words in zip(sentences, zip(*said, strict=True), strict=True)
    ]


def false_alarms(negative: Iterable[tuple[Sequence[str], FloatArray]]) -> dict[str, float]:
    """What each word, in lower case, usually scores in sentences without the label, given by words and scores."""
    total: defaultdict[str, float] = defaultdict(float)
    met: defaultdict[str, int] = defaultdict(int)
    for words, scores in negative:
        for word, score in zip(words, scores.tolist(), strict=True):
            total[word.lower()] += score
            met[word.lower()] += 1
    return {word: total[word] / (met[word] + UNSEEN) for word in total}


def _relative(worth: FloatArray) -> FloatArray:
    """To the best word of the sentence, label by label."""
    relative: FloatArray = worth / np.maximum(worth.max(axis=0), 1e-7)
    return relative
