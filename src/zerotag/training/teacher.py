"""The teacher: an encoder with a soft-attention head at every layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from zerotag.config import ModelConfig
from zerotag.modeling.heads import HeadOutput
from zerotag.modeling.network import Network, TensorBatch, new_head, read_with


class Teacher(Network):
    """An encoder with a soft-attention head at each layer. It is read at two heights.

    Its own scores are those of the upper half of the layers, whose tokens know their context. The lowest third, whose
    tokens are hardly more than words, is read by `DoubleReading`.
    """

    def __init__(self, encoder: PreTrainedModel, labels: int, config: ModelConfig) -> None:
        nn.Module.__init__(self)  # not the network's own, which makes one head
        self.encoder = encoder
        layers: int = encoder.config.num_hidden_layers
        self.depths = range(1, layers + 1)
        self.contextual = slice((layers + 1) // 2 - 1, layers)
        self.shallow = slice(0, max(1, layers // 3))
        self.heads = nn.ModuleList(new_head(encoder.config.hidden_size, labels, config) for _ in self.depths)

    def encode(self, batch: TensorBatch) -> Tensor:
        """What the layers make of the batch's windows, side by side: (W, L, depths × H)."""
        output = self.encoder(batch.input_ids, attention_mask=batch.attention_mask, output_hidden_states=True)
        return torch.cat([output.hidden_states[depth] for depth in self.depths], dim=-1)

    def read(self, encoded: Tensor, batch: TensorBatch) -> HeadOutput:
        """Logits of the average probabilities of the upper half of the layers."""
        return self.average(encoded, batch, self.contextual)

    def average(self, encoded: Tensor, batch: TensorBatch, heads: slice) -> HeadOutput:
        """Logits of the average probabilities of some heads."""
        outputs = self.outputs(encoded, batch, heads)
        return HeadOutput(
            _average([output.sentence_logits for output in outputs]),
            _average([output.token_logits for output in outputs if output.token_logits is not None]),
        )

    def outputs(self, encoded: Tensor, batch: TensorBatch, heads: slice = slice(None)) -> list[HeadOutput]:
        """What each head says, or each of some."""
        layers = encoded.chunk(len(self.depths), dim=-1)[heads]
        return [read_with(head, layer, batch) for head, layer in zip(self.heads[heads], layers, strict=True)]


class DoubleReading(Network):
    """A teacher that scores every label twice: as its upper layers see it, then as its lowest do."""

    def __init__(self, teacher: Teacher) -> None:
        nn.Module.__init__(self)
        self.teacher = teacher
        self.encoder = teacher.encoder

    def encode(self, batch: TensorBatch) -> Tensor:
        """What the teacher's layers make of the batch's windows."""
        return self.teacher.encode(batch)

    def read(self, encoded: Tensor, batch: TensorBatch) -> HeadOutput:
        """Logits of K labels by the upper layers, then of the same by the lowest: (S, 2K) and (S, T, 2K)."""
        upper, lowest = (
            self.teacher.average(encoded, batch, heads) for heads in (self.teacher.contextual, self.teacher.shallow)
        )
        assert upper.token_logits is not None
        assert lowest.token_logits is not None
        return HeadOutput(
            torch.cat([upper.sentence_logits, lowest.sentence_logits], dim=-1),
            torch.cat([upper.token_logits, lowest.token_logits], dim=-1),
        )


def _average(logits: list[Tensor]) -> Tensor:
    return torch.logit(torch.stack(logits).float().sigmoid().mean(dim=0), eps=1e-7)
