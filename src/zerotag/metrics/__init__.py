"""Measures over gold labels, decisions and scores: numpy in, plain numbers out."""

from zerotag.metrics.classification import (
    PRF,
    highest_word_f1,
    precision_recall_f1,
    threshold_from_word_labels,
    word_counts,
)
from zerotag.metrics.faithfulness import AOPC_PERCENTAGES, comprehensiveness, sufficiency, top_words
from zerotag.metrics.ranking import Variant, average_precision, average_precisions, mean_average_precision
from zerotag.metrics.rationale import auprc, iou_f1, token_f1
from zerotag.metrics.significance import (
    Summary,
    mean_and_deviation,
    paired_t_test,
    randomisation_test_f1,
    randomisation_test_map,
)

__all__ = [
    "AOPC_PERCENTAGES",
    "PRF",
    "Summary",
    "Variant",
    "auprc",
    "average_precision",
    "average_precisions",
    "comprehensiveness",
    "highest_word_f1",
    "iou_f1",
    "mean_and_deviation",
    "mean_average_precision",
    "paired_t_test",
    "precision_recall_f1",
    "randomisation_test_f1",
    "randomisation_test_map",
    "sufficiency",
    "threshold_from_word_labels",
    "token_f1",
    "top_words",
    "word_counts",
]
