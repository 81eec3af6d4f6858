"""What a teacher says of the words of sentences, with everything in view and with the strongest words hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zerotag.calibration import logit
from zerotag.inference.predictor import predict, words_of
from zerotag.inference.torch_predictor import TorchPredictor
from zerotag.modeling.network import Network
from zerotag.text.alignment import Aligner, Encoded
from zerotag.types import BoolArray, FloatArray

# Words of a sentence that are hidden, one at a time: the strongest as the upper layers see them, and as the lowest do.
# Where a label is easily told, every word of a sentence has heard of it in the upper layers, and any may be strongest;
# the lowest still know which word it came from.
STRONGEST_ABOVE = 3
STRONGEST_BELOW = 2


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """A teacher's scores of one sentence, for K labels."""

    verdicts: FloatArray
    """Of the sentence, (K,)."""

    words: FloatArray
    """Of its words by the upper layers, (words, K)."""

    shallow: FloatArray
    """Of its words by the lowest layers, (words, K)."""

    lowest: FloatArray
    """Of its words by the upper layers, with that of the strongest words hidden which costs them most."""

    cost: FloatArray
    """What hiding a word takes from the logit of the sentence's verdict; 0 for words that were not hidden."""


def observe(reading: Network, aligner: Aligner, sentences: Sequence[Encoded], hiding: BoolArray) -> list[Observed]:
    """Let a teacher score sentences; words are hidden for the labels that `hiding`, (sentences, K), names.

    Args:
        reading: scores every label twice, by the upper layers and by the lowest (`DoubleReading`).
    """
    labels = hiding.shape[1]
    predictions = predict(TorchPredictor(reading), aligner, sentences)
    observed = [
        Observed(one.sentence_scores[:labels], words[:, :labels], words[:, labels:], words[:, :labels].copy(), zeros)
        for one, words in zip(predictions, words_of(sentences, predictions), strict=True)
        for zeros in (np.zeros((len(words), labels), np.float32),)
    ]
    for k in range(labels):
        chosen = np.flatnonzero(hiding[:, k]).tolist()
        _hide(reading, aligner, [sentences[i] for i in chosen], [observed[i] for i in chosen], k)
    return observed


def _hide(
    reading: Network, aligner: Aligner, sentences: Sequence[Encoded], observed: Sequence[Observed], k: int
) -> None:
    """Hide the strongest words of each sentence in turn; fill in what that does for label `k`."""
    hidden = [_strongest(one.words[:, k], one.shallow[:, k]) for one in observed]
    for place in range(STRONGEST_ABOVE + STRONGEST_BELOW):
        chosen = [i for i, words in enumerate(hidden) if place < len(words)]
        views = [sentences[i].hiding(hidden[i][place]) for i in chosen]
        predictions = predict(TorchPredictor(reading), aligner, views)
        for i, scores, said in zip(chosen, words_of(views, predictions), predictions, strict=True):
            one, word = observed[i], hidden[i][place]
            scores[word, k] = one.lowest[word, k]  # a hidden word says nothing of itself
            np.minimum(one.lowest[:, k], scores[:, k], out=one.lowest[:, k])
            before, after = logit(one.verdicts[k : k + 1]), logit(said.sentence_scores[k : k + 1])
            one.cost[word, k] = before[0] - after[0]


def _strongest(above: FloatArray, below: FloatArray) -> list[int]:
    """The words to be hidden, each once, by the scores of one label."""
    by_upper, by_lowest = (np.argsort(-scores, kind="stable").tolist() for scores in (above, below))
    return list(dict.fromkeys(by_upper[:STRONGEST_ABOVE] + by_lowest[:STRONGEST_BELOW]))
