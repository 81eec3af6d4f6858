"""The teacher: an encoder with soft-attention heads at several depths."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from zerotag.config import ModelConfig
from zerotag.modeling.heads import HeadOutput
from zerotag.modeling.network import Network, TensorBatch, new_head, read_with


class Teacher(Network):
    """An encoder with a soft-attention head at each layer of its upper half; its scores are their average."""

    def __init__(self, encoder: PreTrainedModel, labels: int, config: ModelConfig) -> None:
        nn.Module.__init__(self)  # not the network's own, which makes one head
        self.encoder = encoder
        layers: int = encoder.config.num_hidden_layers
        self.depths = range((layers + 1) // 2, layers + 1)
        self.heads = nn.ModuleList(new_head(encoder.config.hidden_size, labels, config) for _ in self.depths)

    def encode(self, batch: TensorBatch) -> Tensor:
        """What the layers that have a head make of the batch's windows, side by side: (W, L, depths × H)."""
        output = self.encoder(batch.input_ids, attention_mask=batch.attention_mask, output_hidden_states=True)
        return torch.cat([output.hidden_states[depth] for depth in self.depths], dim=-1)

    def read(self, encoded: Tensor, batch: TensorBatch) -> HeadOutput:
        """Logits of the average probabilities."""
        outputs = self.outputs(encoded, batch)
        return HeadOutput(
            _average([output.sentence_logits for output in outputs]),
            _average([output.token_logits for output in outputs if output.token_logits is not None]),
        )

    def outputs(self, encoded: Tensor, batch: TensorBatch) -> list[HeadOutput]:
        """What each head says."""
        return [
            read_with(head, layer, batch)
            for head, layer in zip(self.heads, encoded.chunk(len(self.depths), dim=-1), strict=True)
        ]


def _average(logits: list[Tensor]) -> Tensor:
    return torch.logit(torch.stack(logits).float().sigmoid().mean(dim=0), eps=1e-7)
