"""Does a method rank the positive words of a sentence first? Average precision, in three variants, and its mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from zerotag.evaluation.metrics.ragged import Floats, Ints, Scores, line_up, total_by_sentence
from zerotag.types import BoolArray

Variant = Literal["standard", "clipped", "positional"]
"""How average precision treats ties and negative scores.

`standard`: scikit-learn's definition; equal scores share one rank. `clipped`: the same after raising negative scores
to 0, as the code of Bujel et al. (2021) does. `positional`: equal scores are ranked by position, the later word first,
as reversing an ascending sort does in the code of Rei & Søgaard (2018).
"""


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Every place at which the ranking of a sentence can be cut, from the top down, sentence after sentence.

    `recall` and `precision` are those of the words above the cut; `previous_…` are those of the cut before in the
    same sentence, or recall 0 and precision 1 before any word is taken.
    """

    sentence: Ints
    recall: Floats
    precision: Floats
    previous_recall: Floats
    previous_precision: Floats


def rank(golds: Sequence[BoolArray], scores: Sequence[Scores], *, split_ties: bool = False) -> Cuts:
    """Rank the words of each sentence by score; equal scores cannot be cut apart unless `split_ties`."""
    gold, score, sentence = line_up(golds, scores)
    order = np.lexsort((-np.arange(len(score)), -score, sentence))
    gold, score = gold[order], score[order]  # `sentence` is the first key of the sort: it stays as it is

    first_word = np.searchsorted(sentence, sentence)
    taken = np.arange(len(score)) - first_word + 1
    found_so_far = np.cumsum(gold, dtype=np.int64)
    found = found_so_far - (found_so_far - gold)[first_word]
    positives = total_by_sentence(gold, sentence, len(golds))[sentence]
    recall, precision = found / np.maximum(positives, 1), found / taken

    last_of_ties = np.ones(len(score), dtype=np.bool_)
    if not split_ties:
        last_of_ties[:-1] = (score[1:] != score[:-1]) | (sentence[1:] != sentence[:-1])
    sentence, recall, precision = sentence[last_of_ties], recall[last_of_ties], precision[last_of_ties]
    starts = np.diff(sentence, prepend=-1) != 0
    return Cuts(
        sentence=sentence,
        recall=recall,
        precision=precision,
        previous_recall=np.where(starts, 0.0, np.roll(recall, 1)),
        previous_precision=np.where(starts, 1.0, np.roll(precision, 1)),
    )


def average_precisions(golds: Sequence[BoolArray], scores: Sequence[Scores], variant: Variant = "standard") -> Floats:
    """Average precision of each sentence; nan for one without a positive word, which has none."""
    if variant == "clipped":
        scores = [np.maximum(score, 0) for score in scores]
    cuts = rank(golds, scores, split_ties=variant == "positional")
    steps = (cuts.recall - cuts.previous_recall) * cuts.precision
    return _nan_without_positive(golds, total_by_sentence(steps, cuts.sentence, len(golds)))


def mean_average_precision(
    golds: Sequence[BoolArray], scores: Sequence[Scores], variant: Variant = "standard"
) -> float | None:
    """Mean of average precision over the sentences with a positive word; None where there is no such sentence."""
    return mean_of_defined(average_precisions(golds, scores, variant))


def areas_under_curve(golds: Sequence[BoolArray], scores: Sequence[Scores]) -> Floats:
    """Area under each sentence's precision-recall curve, its points joined by straight lines; nan as above."""
    cuts = rank(golds, scores)
    trapezoids = (cuts.recall - cuts.previous_recall) * (cuts.precision + cuts.previous_precision) / 2
    return _nan_without_positive(golds, total_by_sentence(trapezoids, cuts.sentence, len(golds)))


def mean_of_defined(values: Floats) -> float | None:
    """Mean of what is not nan; None where nothing is left."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


def _nan_without_positive(golds: Sequence[BoolArray], values: Floats) -> Floats:
    has_positive = np.fromiter((gold.any() for gold in golds), dtype=np.bool_, count=len(golds))
    return np.where(has_positive, values, np.nan)
