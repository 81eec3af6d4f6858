"""What word labels can choose: an attention head, and thresholds. Whoever comes in here is not zero-shot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from zerotag.calibration import Calibration
from zerotag.errors import ZerotagError
from zerotag.evaluation.few_words import LabelledWords, log_odds, threshold_from_few_words
from zerotag.evaluation.metrics import mean_average_precision, threshold_from_word_labels
from zerotag.evaluation.report import judge
from zerotag.explain import Scorer, create
from zerotag.text.printable import counted
from zerotag.types import CorrectedExample, GoldExample, Rule, Scored

if TYPE_CHECKING:
    from zerotag.explain.heads import Head
    from zerotag.labeller import Labeller, WordLabeller

WORD_LABELS = "word labels of the development set"
"""The origin of thresholds that were chosen here."""


def scorer_from_word_labels(method: str, labeller: Labeller, dev: Iterable[GoldExample]) -> Scorer:
    """The scorer of a method; of `heads`, the head with the highest MAP on the development set."""
    if method != "heads":
        return create(method, labeller)
    from zerotag.explain import in_torch

    head = best_head_from_word_labels(in_torch(labeller, method), dev)
    return create(f"heads:{head.layer}.{head.number}", labeller)


def rules_from_word_labels(
    pairs: Iterable[tuple[GoldExample, Scored]], label_names: Sequence[str], rules: Sequence[Rule]
) -> tuple[Rule, ...]:
    """The rules with the word thresholds that have the best word F1 on scored development sentences."""
    return tuple(
        replace(
            one.rule,
            word_threshold=threshold_from_word_labels(one.gold_words, one.word_scores),
            origin=WORD_LABELS,
        )
        for one in judge(pairs, label_names, rules)
    )


def tuned_rules(
    pairs: Sequence[tuple[CorrectedExample, Scored]], rules: Sequence[Rule], calibration: Sequence[Calibration]
) -> tuple[Rule, ...]:
    """The rules with word thresholds from the labelled words of a few sentences and what was known before.

    Args:
        pairs: labelled sentences with the model's own scores.
        rules: those chosen by sentence labels, one per label.
        calibration: what sentence labels say of the scores, one per label; empty where nothing is known.

    Returns:
        The rules; that of a label which no labelled sentence has stays as it is.
    """
    labels = np.array([example.labels for example, _ in pairs], np.bool_)  # (sentences, K)
    origin = f"word labels of {counted(len(pairs), 'sentence')}, with the one before as the prior"
    tuned = []
    for k, rule in enumerate(rules):
        gold = [np.array([word[k] for word in example.word_labels], np.bool_) for example, _ in pairs]
        if not any(flags.any() for flags in gold):
            tuned.append(rule)
            continue
        prior = calibration[k] if calibration else Calibration(positive=float(labels[:, k].mean()))
        scores = [scored.word_scores[:, k] for _, scored in pairs]
        words = LabelledWords.of(scores, gold, labels[:, k], prior.positive)
        threshold = threshold_from_few_words(words, prior, log_odds(prior, rule.word_threshold))
        tuned.append(replace(rule, word_threshold=threshold, origin=origin))
    return tuple(tuned)


def best_head_from_word_labels(labeller: WordLabeller, examples: Iterable[GoldExample]) -> Head:
    """The head with the highest mean average precision, averaged over labels. It reads word labels: not zero-shot."""
    from zerotag.explain.heads import Head, all_head_scores, shape_of

    gold = [(example.sentence, np.array(example.word_labels)) for example in examples if example.word_labels]
    labels = [k for k in range(len(labeller.label_names)) if any(flags[:, k].any() for _, flags in gold)]
    if not labels:
        raise ZerotagError("an attention head is chosen by word labels, and there is no positive word among these")
    scores = [one.word_scores for one in all_head_scores(labeller.network, labeller.aligner, (one for one, _ in gold))]

    def quality(head: Head) -> float:
        its_scores = [every[:, head.layer - 1, head.number - 1] for every in scores]
        by_label = [mean_average_precision([flags[:, k] for _, flags in gold], its_scores) for k in labels]
        return float(np.mean(np.array(by_label, np.float64)))

    layers, heads = shape_of(labeller.network)
    return max((Head(layer + 1, number + 1) for layer in range(layers) for number in range(heads)), key=quality)
