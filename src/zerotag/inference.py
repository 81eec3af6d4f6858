"""Networks that run in torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor

from zerotag import prediction
from zerotag.align import Aligner, Batch, Encoded
from zerotag.model import Network, TensorBatch
from zerotag.prediction import AT_ONCE, Prediction, in_chunks, in_groups, parts
from zerotag.types import FloatArray, Sentence

__all__ = [
    "AT_ONCE",
    "Prediction",
    "TorchPredictor",
    "best_device",
    "device_of",
    "evaluating",
    "in_chunks",
    "in_groups",
    "precision",
    "predict",
    "stream",
    "token_budget",
]


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
    return 32_768 if device.type == "cuda" else 2_048


class TorchPredictor:
    """Runs a network in torch, whatever mode it is in, and leaves it as it was."""

    def __init__(self, network: Network) -> None:
        self._network = network

    @property
    def token_budget(self) -> int:
        """What suits the device that has the network."""
        return token_budget(device_of(self._network))

    def probabilities(self, batch: Batch) -> tuple[FloatArray, FloatArray | None]:
        """Scores of a batch's sentences, (S, K), and of their tokens, (S, T, K), if it scores tokens."""
        device = device_of(self._network)
        with evaluating(self._network), torch.inference_mode(), precision(device):
            tensors = TensorBatch.of(batch, device)
            windows = [self._network.encode(tensors.windows(part)) for part in parts(batch, self.token_budget)]
            output = self._network.read(windows[0] if len(windows) == 1 else torch.cat(windows), tensors)
            sentence_scores = _to_numpy(output.sentence_logits)
            return sentence_scores, None if output.token_logits is None else _to_numpy(output.token_logits)


def predict(network: Network, aligner: Aligner, encoded: Sequence[Encoded]) -> list[Prediction]:
    """Predictions for sentences that are already encoded."""
    return prediction.predict(TorchPredictor(network), aligner, encoded)


def stream(
    network: Network, aligner: Aligner, sentences: Iterable[Sentence], *, at_once: int = AT_ONCE
) -> Iterator[tuple[Sentence, Encoded, Prediction]]:
    """Predictions for any number of sentences, in their order."""
    return prediction.stream(TorchPredictor(network), aligner, sentences, at_once=at_once)


@contextmanager
def evaluating(network: Network) -> Iterator[None]:
    """Dropout off, and afterwards as it was."""
    was_training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(was_training)


def _to_numpy(logits: Tensor) -> FloatArray:
    scores: FloatArray = torch.sigmoid(logits.float()).cpu().numpy()
    return scores
