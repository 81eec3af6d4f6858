"""What a first network, the teacher, has to say about words, made into targets for the network that people get.

Soft attention finds the words that carry a label, but not only them: a token beside a cue has seen the cue and can
collect its evidence. Two things tell them apart. The shallower a layer, the less has been collected, so the teacher has
heads at several depths and their scores are averaged. And evidence that was collected is gone when its source is
hidden: so each of the strongest words of a sentence is hidden in turn, and a word is worth its score with everything in
view times its lowest score with another word hidden.

Some words raise a false alarm wherever they stand, such as those of a topic that is often written about badly. They do
so in sentences without the label as well, where they are certainly innocent. What a word scores there is taken off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from zerotag.inference.torch_predictor import predict, words_of
from zerotag.modeling.network import Network
from zerotag.text.alignment import Aligner, Encoded, on_tokens
from zerotag.types import BoolArray, FloatArray

WORDS_HIDDEN = 3  # the strongest of a sentence, one at a time
SILENT_MEETINGS = 5  # as if each word had scored 0 so many times more, for what is met once says little


def word_worth(
    teacher: Network,
    aligner: Aligner,
    sentences: Sequence[Encoded],
    words: Sequence[Sequence[str]],
    labels: BoolArray,
) -> list[FloatArray]:
    """What a teacher says of each word, (words, K): from 0 to 1 in a sentence with the label, else 0."""
    worth = [np.zeros((sentence.words, labels.shape[1]), np.float32) for sentence in sentences]
    in_view = _scores(teacher, aligner, sentences)
    for k in range(labels.shape[1]):
        scores = [of_all[:, k] for of_all in in_view]
        positive, negative = (np.flatnonzero(labels[:, k] == has).tolist() for has in (True, False))
        usual = false_alarms((words[i], scores[i]) for i in negative)
        lowest = lowest_scores(teacher, aligner, [sentences[i] for i in positive], [scores[i] for i in positive], k)
        for i, low in zip(positive, lowest, strict=True):
            alarm = np.array([usual.get(word.lower(), 0.0) for word in words[i]], np.float32)
            product = np.maximum(scores[i] - alarm, 0) * np.maximum(low - alarm, 0)
            worth[i][:, k] = _relative(product)
    return worth


def token_targets(sentences: Sequence[Encoded], said: Sequence[Sequence[FloatArray]]) -> list[FloatArray]:
    """What each token should score, (tokens, K), after what each teacher has said of the words of all sentences."""
    return [
        on_tokens(sentence, _relative(np.mean(words, axis=0)))
        for sentence, words in zip(sentences, zip(*said, strict=True), strict=True)
    ]


def _relative(worth: FloatArray) -> FloatArray:
    """To the best word of the sentence, label by label."""
    relative: FloatArray = worth / np.maximum(worth.max(axis=0), 1e-7)
    return relative


def false_alarms(innocent: Iterable[tuple[Sequence[str], FloatArray]]) -> dict[str, float]:
    """What each word, in lower case, usually scores in sentences without the label, given by words and scores."""
    total: defaultdict[str, float] = defaultdict(float)
    met: defaultdict[str, int] = defaultdict(int)
    for words, scores in innocent:
        for word, score in zip(words, scores.tolist(), strict=True):
            total[word.lower()] += score
            met[word.lower()] += 1
    return {word: total[word] / (met[word] + SILENT_MEETINGS) for word in total}


def lowest_scores(
    teacher: Network, aligner: Aligner, sentences: Sequence[Encoded], in_view: Sequence[FloatArray], k: int
) -> list[FloatArray]:
    """What words score for label `k`, (words,) each, with that of the strongest words hidden which costs them most."""
    lowest = [scores.copy() for scores in in_view]
    for place in range(WORDS_HIDDEN):
        strongest = [int(np.argsort(-scores, kind="stable")[min(place, len(scores) - 1)]) for scores in in_view]
        views = [sentence.hiding(word) for sentence, word in zip(sentences, strongest, strict=True)]
        for low, scores, word in zip(lowest, _scores(teacher, aligner, views), strongest, strict=True):
            scores[word, k] = low[word]  # a hidden word says nothing of itself
            np.minimum(low, scores[:, k], out=low)
    return lowest


def _scores(teacher: Network, aligner: Aligner, sentences: Sequence[Encoded]) -> list[FloatArray]:
    """Of the words of each sentence, (words, K)."""
    return words_of(sentences, predict(teacher, aligner, sentences))
