"""Sentence labels that were flipped on purpose, and how many of them are found; beside cleanlab, if it is installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zerotag.active.suspects import cross_fitted, sentence_features, suspects
from zerotag.config import ModelConfig, TrainConfig
from zerotag.labeller import WordLabeller
from zerotag.research.compare.corpora import Splits
from zerotag.training.loop import Progress
from zerotag.training.recipe import train
from zerotag.types import BoolArray, Corpus, Example

Tell = Callable[[Progress], None]
LABEL = 0  # the one that is flipped, where there are several


def flipped(corpus: Corpus[Example], share: float, seed: int) -> tuple[Corpus[Example], set[int]]:
    """The corpus with the first label of a share of its sentences flipped, and which sentences those are."""
    count = round(share * len(corpus))
    chosen = set(np.random.default_rng(seed).choice(len(corpus), count, replace=False).tolist())
    examples = tuple(
        replace(one, labels=(not one.labels[LABEL], *one.labels[1:])) if i in chosen else one
        for i, one in enumerate(corpus.examples)
    )
    return replace(corpus, examples=examples), chosen


def one_label(corpus: Corpus[Example]) -> Corpus[Example]:
    """The corpus with its first label alone: flips of one of two exclusive labels could be told by the other."""
    examples = tuple(replace(one, labels=one.labels[:1]) for one in corpus.examples)
    return replace(corpus, label_names=corpus.label_names[:1], examples=examples)


def trained(
    corpus: Corpus[Example], splits: Splits, encoder: str, seed: int, checkpoints: Path, tell: Tell
) -> WordLabeller:
    """A model of the flipped corpus; what it is asked needs no teacher."""
    return train(
        corpus,
        one_label(splits.dev),
        model=ModelConfig(encoder=encoder),
        training=TrainConfig(seed=seed, teacher_epochs=0, teachers=1),
        checkpoints=checkpoints,
        on_progress=tell,
    )


def precision(labeller: WordLabeller, corpus: Corpus[Example], wrong: set[int]) -> dict[str, float]:
    """Precision at as many as were flipped, of our ranking and of cleanlab's on the same chances."""
    found = suspects(labeller, corpus, n=len(wrong))
    result = {"suspects": len({one.number for one in found} & wrong) / len(wrong)}
    if find_spec("cleanlab") is not None:
        labels = np.array([one.labels[LABEL] for one in corpus.examples], np.bool_)
        chances = cross_fitted(sentence_features(labeller, corpus, LABEL), labels)
        for method in ("prune_by_noise_rate", "prune_by_class", "both", "confident_learning"):
            result[method] = len(set(_by_cleanlab(chances, labels, method)[: len(wrong)]) & wrong) / len(wrong)
    return result


def _by_cleanlab(chances: NDArray[np.float64], labels: BoolArray, method: str) -> list[int]:
    from cleanlab.filter import find_label_issues

    both = np.stack([1 - chances, chances], axis=1)
    issues: NDArray[np.int64] = find_label_issues(
        labels.astype(np.int64), both, filter_by=method, return_indices_ranked_by="self_confidence", n_jobs=1
    )
    return [int(number) for number in issues]
