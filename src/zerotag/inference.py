"""Sentences through a network, in their own order, in batches of like length, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
import torch

from zerotag.align import Aligner, Encoded
from zerotag.batching import by_token_budget
from zerotag.model import Network, TensorBatch
from zerotag.types import FloatArray, Sentence

AT_ONCE = 1024  # sentences that are held, and sorted by length, at a time

R = TypeVar("R")


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

    def forward(members: Sequence[Encoded]) -> Iterator[Prediction]:
        return _forward(network, aligner, members, device)

    with evaluating(network), torch.inference_mode(), precision(device):
        return in_groups(aligner, encoded, token_budget(device), forward)


def stream(
    network: Network, aligner: Aligner, sentences: Iterable[Sentence], *, at_once: int = AT_ONCE
) -> Iterator[tuple[Sentence, Encoded, Prediction]]:
    """Predictions for any number of sentences, in their order."""
    for chunk, encoded in in_chunks(aligner, sentences, at_once):
        yield from zip(chunk, encoded, predict(network, aligner, encoded), strict=True)


@contextmanager
def evaluating(network: Network) -> Iterator[None]:
    """Dropout off, and afterwards as it was."""
    was_training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(was_training)


def in_chunks(
    aligner: Aligner, sentences: Iterable[Sentence], at_once: int = AT_ONCE
) -> Iterator[tuple[list[Sentence], list[Encoded]]]:
    """Sentences and their sub-words, `at_once` of them at a time."""
    remaining = iter(sentences)
    while chunk := list(islice(remaining, at_once)):
        yield chunk, aligner.encode(chunk)


def in_groups(
    aligner: Aligner, encoded: Sequence[Encoded], budget: int, compute: Callable[[Sequence[Encoded]], Iterable[R]]
) -> list[R]:
    """One result per sentence, in their order, computed for groups of like length within a budget of sub-words."""
    results: dict[int, R] = {}
    for group in by_token_budget([aligner.cost(e) for e in encoded], budget):
        results.update(zip(group, compute([encoded[i] for i in group]), strict=True))
    return [results[i] for i in range(len(encoded))]


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
