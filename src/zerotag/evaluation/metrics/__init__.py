"""Measures over gold labels, decisions and scores: numpy in, plain numbers out."""

from zerotag.evaluation.metrics.classification import (
    PRF,
    at_thresholds,
    best_threshold_and_f1,
    f05,
    precision_recall_f1,
    threshold_from_word_labels,
    word_counts,
)
from zerotag.evaluation.metrics.faithfulness import AOPC_PERCENTAGES, comprehensiveness, sufficiency, top_words
from zerotag.evaluation.metrics.ranking import Variant, average_precisions, mean_average_precision
from zerotag.evaluation.metrics.rationale import auprc, iou_f1, token_f1

__all__ = [
    "AOPC_PERCENTAGES",
    "PRF",
    "Variant",
    "at_thresholds",
    "auprc",
    "average_precisions",
    "best_threshold_and_f1",
    "comprehensiveness",
    "f05",
    "iou_f1",
    "mean_average_precision",
    "precision_recall_f1",
    "sufficiency",
    "threshold_from_word_labels",
    "token_f1",
    "top_words",
    "word_counts",
]
