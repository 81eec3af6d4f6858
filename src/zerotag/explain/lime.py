"""LIME (Ribeiro et al. 2016) for words: how a linear model explains what masking words does to the prediction.

The settings are those of the `lime` package, which this agrees with: words are told apart by position, a sample hides
a random number of random words, samples are weighted by how like the sentence they are, ridge regression does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zerotag.explain.masking import Masker, Versions
from zerotag.explain.random import draws_for
from zerotag.explain.registry import ScorerArguments, ScorerSpec, in_torch, mask_id
from zerotag.modeling.network import Network
from zerotag.text.alignment import Aligner
from zerotag.types import BoolArray, FloatArray, IntArray, Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller

KERNEL_WIDTH = 25.0  # on cosine distance × 100
DRAWN_AT_ONCE = 2**20  # random numbers


class LimeScorer:
    """A word's score is its weight in a linear model of the label's probability."""

    name = "lime"

    def __init__(self, network: Network, aligner: Aligner, mask_id: int, *, samples: int = 5000, seed: int = 0) -> None:
        self._masker = Masker(network, aligner, mask_id)
        self._samples = samples
        self._seed = seed

    @property
    def passes(self) -> int:
        """Forward passes so far: one per distinct sample."""
        return self._masker.passes

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores of each sentence, in the order they come."""
        for versions, probabilities in self._masker.probabilities(map(self._plan, sentences)):
            scores = linear_weights(versions.kept, versions.times, probabilities)
            yield Scored(versions.sentence, tuple(probabilities[0].tolist()), scores)

    def _plan(self, sentence: Sentence) -> Versions:
        drawn = self._draw(sentence)
        first, times = distinct(drawn)
        return Versions(sentence, drawn[first], times)

    def _draw(self, sentence: Sentence) -> BoolArray:
        return draw_samples(len(sentence.words), self._samples, draws_for(sentence, self._seed))


def draw_samples(words: int, samples: int, draws: np.random.Generator) -> BoolArray:
    """Which words each sample keeps, (samples, words): all in the first, else all but 1 to all of them at random."""
    kept = np.ones((samples, words), np.bool_)
    if not words:
        return kept
    hidden = draws.integers(1, words + 1, samples)
    at_once = max(1, DRAWN_AT_ONCE // words)
    for start in range(1, samples, at_once):
        block = slice(start, start + at_once)
        lots = draws.random(kept[block].shape)
        highest_hidden = np.take_along_axis(np.sort(lots, axis=1), hidden[block, None] - 1, axis=1)
        kept[block] = lots > highest_hidden
    return kept


def linear_weights(kept: BoolArray, times: IntArray, probabilities: FloatArray) -> FloatArray:
    """Each word's weight for each label, (words, K), from samples that were drawn so many `times`."""
    if not kept.shape[1]:
        return np.zeros((0, probabilities.shape[1]), np.float32)
    return _ridge(kept, probabilities, likeness(kept) * times).astype(np.float32)


def likeness(kept: BoolArray) -> NDArray[np.float64]:
    """How like the sentence each sample is: cosine distance to it depends on the number of its words alone."""
    distance = 100 * (1 - np.sqrt(kept.mean(axis=1)))
    alike: NDArray[np.float64] = np.sqrt(np.exp(-((distance / KERNEL_WIDTH) ** 2)))
    return alike


def _ridge(features: BoolArray, targets: FloatArray, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients, (features, targets), of a regression with an intercept and a penalty of 1."""
    roots = np.sqrt(weights)[:, None]
    inputs: NDArray[np.float64] = roots * centred(features, weights)
    outputs: NDArray[np.float64] = roots * centred(targets, weights)
    samples, words = inputs.shape
    found: Any  # the stubs of solve forget that these are double
    if words <= samples:
        found = np.linalg.solve(inputs.T @ inputs + np.eye(words), inputs.T @ outputs)
    else:  # the same for less work
        found = inputs.T @ np.linalg.solve(inputs @ inputs.T + np.eye(samples), outputs)
    return np.asarray(found, np.float64)


def centred(values: BoolArray | FloatArray, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns less their weighted means, which is what an intercept does."""
    less: NDArray[np.float64] = values - (weights / weights.sum()) @ values
    return less


def distinct(rows: BoolArray) -> tuple[IntArray, IntArray]:
    """Where each distinct row is first, in order, and how often it is there."""
    packed = np.packbits(rows, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel() if packed.shape[1] else np.zeros(len(rows))
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order], times[order]


def _create(labeller: Labeller, arguments: ScorerArguments) -> LimeScorer:
    trained = in_torch(labeller, arguments.method)
    mask = mask_id(trained, arguments.method)
    return LimeScorer(trained.network, trained.aligner, mask, seed=arguments.seed)


SCORER = ScorerSpec(create=_create, cost=256)
