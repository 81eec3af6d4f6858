"""LIME with no more samples than its weights need to be as certain as is stated.

The samples are the first of those that LIME draws: 250, then twice as many, and so on. A sentence is done when the
standard error of its least certain weight is at most `ERROR`, or when all samples of LIME are used, whose weights are
then the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from zerotag.explain.lime import LimeScorer, centred, distinct, likeness, linear_weights
from zerotag.explain.masking import Versions
from zerotag.explain.registry import ScorerArguments, ScorerSpec, in_torch, mask_id
from zerotag.modeling.network import Network
from zerotag.text.alignment import Aligner
from zerotag.types import BoolArray, FloatArray, IntArray, Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller

ERROR = 0.01  # on the scale of probabilities
FIRST = 250  # samples
SAMPLES_PER_WORD = 4  # below which nothing is said of errors: residuals of a regression with few samples are too small
TOGETHER = 32  # sentences whose samples share batches


class AdaptiveLimeScorer(LimeScorer):
    """A word's score is its weight in a linear model of the label's probability, to within a standard error."""

    name = "adaptive-lime"

    def __init__(
        self,
        network: Network,
        aligner: Aligner,
        mask_id: int,
        *,
        error: float = ERROR,
        samples: int = 5000,
        seed: int = 0,
    ) -> None:
        super().__init__(network, aligner, mask_id, samples=samples, seed=seed)
        self._error = error

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores of each sentence, in the order they come."""
        remaining = iter(sentences)
        while some := list(islice(remaining, TOGETHER)):
            sampled = [_Sampled(one, self._draw(one)) for one in some]
            self._sample(sampled)
            yield from (one.scored() for one in sampled)

    def _sample(self, sampled: list[_Sampled]) -> None:
        """Evaluate samples of each sentence until they are enough."""
        used, left = 0, sampled
        while left and used < self._samples:
            used = min(max(FIRST, 2 * used), self._samples)
            new = [(one, versions) for one in left if len((versions := one.next(used)).kept)]
            found = self._masker.probabilities(versions for _, versions in new)
            for (one, _), (_, probabilities) in zip(new, found, strict=True):
                one.add(probabilities)
            left = [one for one in left if one.least_certain() > self._error]


class _Sampled:
    """The samples of a sentence, and what the network says of those that it has been shown."""

    def __init__(self, sentence: Sentence, drawn: BoolArray) -> None:
        self._sentence = sentence
        self._drawn = drawn
        self._rows, self._times = distinct(drawn[:0])
        self._probabilities: FloatArray | None = None

    def next(self, used: int) -> Versions:
        """Those to be evaluated next, if so many samples are used: what is new among them."""
        before = len(self._rows)
        self._rows, self._times = distinct(self._drawn[:used])  # in the order they were drawn, so new ones come last
        return Versions(self._sentence, self._drawn[self._rows[before:]], self._times[before:])

    def add(self, probabilities: FloatArray) -> None:
        """What the network says of them."""
        known = [] if self._probabilities is None else [self._probabilities]
        self._probabilities = np.concatenate([*known, probabilities])

    def least_certain(self) -> float:
        """The largest standard error of a weight."""
        kept, probabilities = self._evaluated()
        if not kept.shape[1]:
            return 0.0
        if self._times.sum() < SAMPLES_PER_WORD * kept.shape[1]:
            return np.inf
        return float(standard_errors(kept, self._times, probabilities).max())

    def scored(self) -> Scored:
        """The weights by all samples that were evaluated."""
        kept, probabilities = self._evaluated()
        scores = linear_weights(kept, self._times, probabilities)
        return Scored(self._sentence, tuple(probabilities[0].tolist()), scores)

    def _evaluated(self) -> tuple[BoolArray, FloatArray]:
        assert self._probabilities is not None  # there is a first round
        return self._drawn[self._rows], self._probabilities


def standard_errors(kept: BoolArray, times: IntArray, probabilities: FloatArray) -> FloatArray:
    """How far each weight would be another with other samples, (words, K): the sandwich estimate, robust to misfit."""
    weights = likeness(kept)
    inputs = centred(kept, weights * times)
    outputs = centred(probabilities, weights * times)
    bread = np.linalg.inv((inputs * (weights * times)[:, None]).T @ inputs + np.eye(inputs.shape[1]))
    residuals = outputs - inputs @ linear_weights(kept, times, probabilities)
    influence = (inputs * weights[:, None]) @ bread  # of a sample on each weight, for a residual of 1
    variances = (influence**2 * times[:, None]).T @ residuals**2
    return np.sqrt(variances).astype(np.float32)


def _create(labeller: Labeller, arguments: ScorerArguments) -> AdaptiveLimeScorer:
    trained = in_torch(labeller, arguments.method)
    mask = mask_id(trained, arguments.method)
    return AdaptiveLimeScorer(trained.network, trained.aligner, mask, seed=arguments.seed)


SCORER = ScorerSpec(create=_create, cost=128)
