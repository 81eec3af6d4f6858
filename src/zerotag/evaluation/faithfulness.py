"""Does the model itself rely on the words a method points at? Sentences with those words masked, or all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from zerotag.evaluation.metrics import AOPC_PERCENTAGES, comprehensiveness, sufficiency, top_words
from zerotag.evaluation.metrics.ragged import Floats
from zerotag.explain.masking import Masker, Versions
from zerotag.inference.predictor import stream
from zerotag.types import Scored

if TYPE_CHECKING:
    from zerotag.labeller import WordLabeller


def faithfulness(labeller: WordLabeller, scored: Sequence[Scored]) -> dict[str, float]:
    """Comprehensiveness and sufficiency (area over the perturbation curve), averaged over labels.

    Words are hidden behind the mask token, as LIME does. Word scores are evidence for a label, not against it: only
    sentences that the model gives the label are counted. Empty where nothing can be masked or no sentence is given one.
    """
    mask_id: int | None = labeller.tokenizer.mask_token_id
    if mask_id is None:
        return {}
    predictions = stream(labeller.predictor, labeller.aligner, (one.sentence for one in scored))
    verdicts = [prediction.sentence_scores for _, _, prediction in predictions]
    by_label = []
    for k, rule in enumerate(labeller.rules):
        positive = [one for one, scores in zip(scored, verdicts, strict=True) if rule.sentence(float(scores[k]))]
        if positive:
            full, without, only = _probabilities(Masker(labeller.network, labeller.aligner, mask_id), positive, k)
            by_label.append((comprehensiveness(full, without), sufficiency(full, only)))
    if not by_label:
        return {}
    means = np.mean(by_label, axis=0)
    return {"comprehensiveness": float(means[0]), "sufficiency": float(means[1])}


def _probabilities(masker: Masker, scored: Sequence[Scored], label: int) -> tuple[Floats, Floats, Floats]:
    """Of the whole sentences (S,), without their top words and with those alone (S, sizes of rationale)."""

    def planned() -> Iterator[Versions]:
        for one in scored:
            top = np.stack([top_words(one.word_scores[:, label], size) for size in AOPC_PERCENTAGES])
            kept = np.concatenate([np.ones((1, top.shape[1]), np.bool_), ~top, top])
            yield Versions(one.sentence, kept, np.ones(len(kept), np.int64))

    rows = np.stack([found[:, label] for _, found in masker.probabilities(planned())]).astype(np.float64)
    sizes = len(AOPC_PERCENTAGES)
    return rows[:, 0], rows[:, 1 : 1 + sizes], rows[:, 1 + sizes :]
