"""What word scores look like as a whole, and where they are kept to study thresholds without scoring again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from zerotag.evaluation.report import Judged
from zerotag.io.files import make_folders
from zerotag.types import Scored

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)

Quantiles = dict[str, dict[str, list[float]]]
"""Label → which sentences (`positive`, `negative`) → the `QUANTILES` of their words' scores."""


def quantiles(judged: Iterable[Judged]) -> Quantiles:
    """Of the word scores of each label, in sentences with the label and without it."""
    return {
        one.label: {
            which: np.quantile(np.concatenate(scores), QUANTILES).astype(float).round(6).tolist()
            for which, scores in _by_kind(one).items()
            if scores
        }
        for one in judged
        if one.word_scores
    }


def _by_kind(judged: Judged) -> dict[str, list[np.ndarray]]:
    pairs = list(zip(judged.gold_sentences, judged.word_scores, strict=True))
    return {
        which: [scores for positive, scores in pairs if positive == has and len(scores)]
        for which, has in (("positive", True), ("negative", False))
    }


def keep_scores(file: Path, scored: Sequence[Scored]) -> None:
    """Write scores as `words`, (all words, K), in half precision, and `sentences`, (sentences, K)."""
    make_folders(file.parent)
    np.savez_compressed(
        file,
        words=np.concatenate([one.word_scores for one in scored]).astype(np.float16),
        sentences=np.array([one.sentence_scores for one in scored], np.float32),
    )
