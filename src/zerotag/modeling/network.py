"""The network: an encoder and a head, from a padded batch to logits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from zerotag.config import HEADS, ModelConfig
from zerotag.modeling.heads import Classifier, HeadOutput
from zerotag.text.batches import Batch


class TensorBatch(NamedTuple):
    """A `Batch` as tensors on one device; see there for the shapes."""

    input_ids: Tensor
    attention_mask: Tensor
    token_mask: Tensor
    sentence_of_window: Tensor
    stitch: Tensor | None
    extra: Mapping[str, Tensor] = MappingProxyType({})

    @classmethod
    def of(cls, batch: Batch, device: torch.device) -> TensorBatch:
        """Move a batch to a device."""

        def move(array: object) -> Tensor:
            tensor = torch.as_tensor(array)
            if device.type == "cuda":
                return tensor.pin_memory().to(device, non_blocking=True)
            return tensor

        return cls(
            move(batch.input_ids),
            move(batch.attention_mask),
            move(batch.token_mask),
            move(batch.sentence_of_window),
            None if batch.stitch is None else move(batch.stitch),
            {name: move(array) for name, array in batch.extra.items()},
        )

    def windows(self, some: slice) -> TensorBatch:
        """What an encoder needs of some of the windows."""
        return self._replace(
            input_ids=self.input_ids[some],
            attention_mask=self.attention_mask[some],
            extra={name: tensor[some] for name, tensor in self.extra.items()},
        )


class Network(nn.Module):
    """An encoder with a soft-attention or a classifier head."""

    def __init__(self, encoder: PreTrainedModel, labels: int, config: ModelConfig) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = new_head(encoder.config.hidden_size, labels, config)

    def forward(self, batch: TensorBatch) -> HeadOutput:
        """Logits of the batch's sentences and tokens."""
        return self.read(self.encode(batch), batch)

    def encode(self, batch: TensorBatch) -> Tensor:
        """What the encoder makes of the batch's windows: (W, L, H)."""
        output = self.encoder(batch.input_ids, attention_mask=batch.attention_mask, **batch.extra)
        encoded: Tensor = output.last_hidden_state
        return encoded

    def read(self, encoded: Tensor, batch: TensorBatch) -> HeadOutput:
        """Logits from what the encoder made of the batch's windows, `encoded` (W, L, H)."""
        return read_with(self.head, encoded, batch)


def new_head(width: int, labels: int, config: ModelConfig) -> nn.Module:
    """The configured head for an encoder of some width."""
    return HEADS.get(config.head)(width, labels, config)


def read_with(head: nn.Module, encoded: Tensor, batch: TensorBatch) -> HeadOutput:
    """What a head says of the batch's sentences and tokens."""
    # In full precision also where the encoder is not: scores are ranked, and too many of them would tie.
    with torch.autocast(encoded.device.type, enabled=False):
        encoded = encoded.float()
        if isinstance(head, Classifier):
            output: HeadOutput = head(_sentence_means(encoded[:, 0], batch))
        else:
            tokens = encoded if batch.stitch is None else encoded.flatten(0, 1)[batch.stitch]
            output = head(tokens, batch.token_mask)
    return output


def _sentence_means(first: Tensor, batch: TensorBatch) -> Tensor:
    """The first tokens' vectors (W, H), averaged over the windows of each sentence: (S, H)."""
    if batch.stitch is None:
        return first
    sentences = batch.token_mask.shape[0]
    member = nn.functional.one_hot(batch.sentence_of_window, sentences).to(first.dtype)  # (W, S)
    return (member.T @ first) / member.sum(dim=0).unsqueeze(1)
