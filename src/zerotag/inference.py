"""Sentences through a network, in their own order, in batches of like length, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch

from zerotag.align import Aligner, Encoded
from zerotag.batching import by_token_budget
from zerotag.model import Network, TensorBatch
from zerotag.types import FloatArray, Sentence

CHUNK = 1024  # sentences that are held and sorted by length at a time


class Prediction(NamedTuple):
    """What the network says of a sentence: probabilities per label, and per token and label if it scores tokens."""

    sentence_scores: FloatArray  # (K,)
    token_scores: FloatArray | None  # (tokens, K)


def best_device() -> torch.device:
    """A GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def device_of(network: Network) -> torch.device:
    """Where the network's weights are."""
    return next(network.parameters()).device


def precision(device: torch.device) -> AbstractContextManager[object]:
    """Bfloat16 on a GPU, full precision elsewhere."""
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()


def token_budget(device: torch.device) -> int:
    """Padded sub-words per batch: enough to keep the device busy, little enough to stay in its caches."""
    return 131_072 if device.type == "cuda" else 4_096


def predict(network: Network, aligner: Aligner, encoded: Sequence[Encoded]) -> list[Prediction]:
    """Predictions for sentences that are already encoded, whatever mode the network is in."""
    device = device_of(network)
    was_training = network.training
    network.eval()
    predictions: list[Prediction | None] = [None] * len(encoded)
    try:
        with torch.inference_mode(), precision(device):
            for group in by_token_budget([aligner.cost(e) for e in encoded], token_budget(device)):
                members = [encoded[i] for i in group]
                for index, prediction in zip(group, _forward(network, aligner, members, device), strict=True):
                    predictions[index] = prediction
    finally:
        network.train(was_training)
    return [p for p in predictions if p is not None]


def stream(
    network: Network, aligner: Aligner, sentences: Iterable[Sentence]
) -> Iterator[tuple[Sentence, Encoded, Prediction]]:
    """Predictions for any number of sentences, in their order."""
    remaining = iter(sentences)
    while chunk := list(islice(remaining, CHUNK)):
        encoded = aligner.encode(chunk)
        yield from zip(chunk, encoded, predict(network, aligner, encoded), strict=True)


def _forward(
    network: Network, aligner: Aligner, members: Sequence[Encoded], device: torch.device
) -> Iterator[Prediction]:
    batch = aligner.batch(members)
    output = network(TensorBatch.of(batch, device))
    sentence_scores: FloatArray = torch.sigmoid(output.sentence_logits.float()).cpu().numpy()
    if output.token_logits is None:
        yield from (Prediction(scores, None) for scores in sentence_scores)
        return
    token_scores: FloatArray = torch.sigmoid(output.token_logits.float()).cpu().numpy()
    for scores, tokens in zip(sentence_scores, aligner.tokens(batch, token_scores, members), strict=True):
        yield Prediction(scores, np.ascontiguousarray(tokens))
