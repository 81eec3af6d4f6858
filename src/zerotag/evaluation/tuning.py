"""What word labels can choose: an attention head, and thresholds. Whoever comes in here is not zero-shot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from zerotag.evaluation.metrics import threshold_from_word_labels
from zerotag.evaluation.report import judge
from zerotag.explain import Scorer, create
from zerotag.types import GoldExample, Rule, Scored

if TYPE_CHECKING:
    from zerotag.labeller import Labeller

WORD_LABELS = "word labels of the development set"
"""The origin of thresholds that were chosen here."""


def scorer_from_word_labels(method: str, labeller: Labeller, dev: Iterable[GoldExample]) -> Scorer:
    """The scorer of a method; of `heads`, the head with the highest MAP on the development set."""
    if method != "heads":
        return create(method, labeller)
    from zerotag.explain import in_torch
    from zerotag.explain.heads import best_head_from_word_labels

    head = best_head_from_word_labels(in_torch(method, labeller), dev)
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
