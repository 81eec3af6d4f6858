"""Masked sentences the other way round: the tokenizer itself reads mask tokens in a text."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from zerotag.inference.predictor import predict
from zerotag.labeller import WordLabeller
from zerotag.text.alignment import Encoded
from zerotag.types import FloatArray

MASK = 4


def probabilities(labeller: WordLabeller, texts: Iterable[str]) -> FloatArray:
    """What the network says of each text: (texts, K)."""
    sub_words = [np.array(labeller.tokenizer(text, add_special_tokens=False).input_ids) for text in texts]
    encoded = [Encoded(ids, np.arange(len(ids)), np.arange(len(ids)), len(ids)) for ids in sub_words]
    return np.stack([one.sentence_scores for one in predict(labeller.predictor, labeller.aligner, encoded)])
