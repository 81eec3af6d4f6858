"""A first batch for a network that was just loaded, so that what does not fit shows before any text is labelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from zerotag.errors import ZerotagError
from zerotag.text.alignment import Aligner
from zerotag.text.batches import Batch
from zerotag.types import FloatArray, Sentence

Scores = tuple[FloatArray, FloatArray | None]
_SENTENCES = (Sentence.from_words(["a"]), Sentence.from_words(["one", "more", "."]))


def probe(scores: Callable[[Batch], Scores], aligner: Aligner, labels: int) -> None:
    """Refuse a network that cannot read every sub-word, scores another number of labels, or gives no finite scores."""
    batch = aligner.batch(aligner.encode(_SENTENCES))
    for one in (batch, replace(batch, input_ids=np.full_like(batch.input_ids, aligner.highest_id))):
        sentence_scores, token_scores = scores(one)
        _check("sentences", sentence_scores, (len(_SENTENCES), labels))
        if token_scores is not None:
            _check("tokens", token_scores, (*batch.token_mask.shape, labels))


def _check(what: str, scores: FloatArray, shape: tuple[int, ...]) -> None:
    if scores.shape != shape:
        raise ZerotagError(f"its scores of {what} are {scores.shape}, by its {shape[-1]} labels they are {shape}")
    if what == "sentences" and not np.isfinite(scores).all():
        raise ZerotagError("its scores are not finite numbers")
