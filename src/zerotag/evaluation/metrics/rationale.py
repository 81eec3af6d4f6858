"""How well words agree with human rationales, by the conventions of ERASER (DeYoung et al. 2020).

The numbers are those of ERASER's own scoring code: the macro averages over sentences that its tables report.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zerotag.evaluation.metrics.classification import f1_of_counts, word_counts
from zerotag.evaluation.metrics.ragged import Floats, Ints, Scores, line_up, total_by_sentence
from zerotag.evaluation.metrics.ranking import areas_under_curve, mean_of_defined
from zerotag.types import BoolArray


def token_f1(golds: Sequence[BoolArray], predicted: Sequence[BoolArray]) -> float:
    """Mean F1 of the sentences with a gold or a predicted word; 0 where there is no such sentence.

    A sentence with neither says nothing about rationales and is left out, as in ERASER.
    """
    counts = word_counts(golds, predicted)
    counts = counts[counts.any(axis=1)]
    return float(f1_of_counts(counts).mean()) if len(counts) else 0.0


def iou_f1(golds: Sequence[BoolArray], predicted: Sequence[BoolArray]) -> float:
    """F1 over spans, where a predicted span is right if it shares at least half of its union with a gold span.

    Precision is averaged over the sentences with a predicted span, recall over those with a gold span, and F1 is taken
    of the two averages, as in ERASER. Spans are maximal runs of positive words, so that at one half no gold span can be
    matched twice and recall cannot pass 1.
    """
    gold, guess, sentence = line_up(golds, predicted)
    gold_span, gold_size, gold_sentence = _spans(gold, sentence)
    guess_span, guess_size, guess_sentence = _spans(guess, sentence)

    both = gold & guess
    pairs, shared = np.unique(np.stack([gold_span[both], guess_span[both]]), axis=1, return_counts=True)
    union = gold_size[pairs[0]] + guess_size[pairs[1]] - shared
    matched = np.zeros(len(guess_size), dtype=np.bool_)
    matched[pairs[1, 2 * shared >= union]] = True

    right = total_by_sentence(matched, guess_sentence, len(golds))
    precision = _mean_ratio(right, total_by_sentence(np.ones_like(guess_size), guess_sentence, len(golds)))
    recall = _mean_ratio(right, total_by_sentence(np.ones_like(gold_size), gold_sentence, len(golds)))
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def auprc(golds: Sequence[BoolArray], scores: Sequence[Scores]) -> float | None:
    """Mean area under the precision-recall curve, over sentences with a positive word; None where there is none.

    Every ERASER document has a rationale; its code would count each sentence without one as 0.5, whatever the scores.
    """
    return mean_of_defined(areas_under_curve(golds, scores))


def _spans(mask: BoolArray, sentence: Ints) -> tuple[Ints, Ints, Ints]:
    """The span each word is in (meaningless outside one), and of each span its number of words and its sentence."""
    follows = np.zeros_like(mask)
    follows[1:] = mask[:-1] & (sentence[1:] == sentence[:-1])
    starts = mask & ~follows
    span = np.cumsum(starts) - 1
    return span, np.bincount(span[mask]), sentence[starts]


def _mean_ratio(part: Floats, whole: Floats) -> float:
    some = whole > 0
    return float((part[some] / whole[some]).mean()) if some.any() else 0.0
