"""The supervised upper bound: the same network, told which words are positive. Only here do word labels train one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from zerotag.labeller import WordLabeller
from zerotag.research.compare.corpora import without_word_labels
from zerotag.research.compare.experiment import Training
from zerotag.training.checked_corpus import check_corpus
from zerotag.training.recipe import Progress, train_towards
from zerotag.types import Corpus, Example, GoldExample

ORIGIN = "fixed, in a model trained on word labels"
"""What the rules of such a model say of themselves: it is not zero-shot."""


def train_on_word_labels(
    training: Training,
    gold: Corpus[GoldExample],
    dev: Corpus[Example],
    seed: int,
    checkpoints: Path,
    on_progress: Callable[[Progress], None],
) -> WordLabeller:
    """Train a network to score the words of `gold` by their labels; refused if that was not declared."""
    if not training.word_labels:
        raise ValueError(f"training {training.name!r} is not declared to learn from word labels")
    corpus = without_word_labels(gold)
    check_corpus(corpus, dev)
    labeller = train_towards(
        [np.array(example.word_labels, np.float32) for example in gold.examples],
        corpus,
        dev,
        training.model,
        replace(training.training, seed=seed),
        checkpoints,
        None,
        on_progress,
    )
    return labeller.with_rules([replace(rule, origin=ORIGIN) for rule in labeller.rules])
