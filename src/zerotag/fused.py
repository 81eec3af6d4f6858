"""Networks made ready for a GPU: the encoder in bfloat16, and fused attention also where transformers has none."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import MPNetModel
from transformers.modeling_outputs import BaseModelOutput

from zerotag.model import Network

_ALIGNMENT = 16  # of the rows of an attention bias: fused attention would copy any other


def lean(network: Network) -> Network:
    """A copy for inference that shares the weights of the head and has those of the encoder in bfloat16."""
    theirs = {id(weight): nn.Parameter(weight.detach().bfloat16(), False) for weight in network.encoder.parameters()}
    shared = {id(weight): weight for weight in network.parameters() if id(weight) not in theirs}
    made = copy.deepcopy(network, theirs | shared)
    fuse(made)
    return made.eval()


def fuse(network: Network) -> None:
    """Give an encoder that has none fused attention, for inference. Others of transformers have it already."""
    if isinstance(network.encoder, MPNetModel):
        encoder: Any = network.encoder
        encoder.encoder = FusedLayers(encoder.encoder)


class FusedLayers(nn.Module):
    """The layers of MPNet, whose position bias goes with the mask into fused attention."""

    def __init__(self, layers: Any) -> None:
        super().__init__()
        self.layer: Any = layers.layer
        self.relative_attention_bias = layers.relative_attention_bias
        self._bucket = layers.relative_position_bucket
        for layer in layers.layer:
            layer.attention.attn = FusedAttention(layer.attention.attn)

    def forward(
        self,
        hidden_states: Tensor,
        attention_mask: Tensor | None = None,
        output_hidden_states: bool = False,
        **_: object,
    ) -> BaseModelOutput:
        """Run all layers; dropout is off."""
        bias = self._bias(hidden_states, attention_mask)
        states: list[Any] = [hidden_states]
        for layer in self.layer:
            attended = layer.attention.LayerNorm(layer.attention.attn(states[-1], bias) + states[-1])
            states.append(layer.output(layer.intermediate(attended), attended))
            if not output_hidden_states:
                del states[0]
        return BaseModelOutput(
            last_hidden_state=states[-1], hidden_states=tuple(states) if output_hidden_states else None
        )

    def _bias(self, hidden_states: Tensor, mask: Tensor | None) -> Tensor:
        """What is added to attention scores, (W, heads, L, L): how far apart two tokens are, and what is not there."""
        windows, length, _ = hidden_states.shape
        place = torch.arange(length, device=hidden_states.device)
        by_distance: Tensor = self.relative_attention_bias(self._bucket(place[None] - place[:, None]))  # (L, L, heads)
        room = -(-length // _ALIGNMENT) * _ALIGNMENT
        bias = by_distance.new_empty(windows, by_distance.shape[-1], length, room)[..., :length]
        bias.copy_(by_distance.permute(2, 0, 1))
        return bias if mask is None else bias.add_(mask)


class FusedAttention(nn.Module):
    """MPNet's self-attention: one product for queries, keys and values, and one kernel for what follows."""

    def __init__(self, attention: Any) -> None:
        super().__init__()
        self._heads = attention.num_attention_heads
        three = attention.q, attention.k, attention.v
        self.weight = nn.Parameter(torch.cat([linear.weight.detach() for linear in three]), requires_grad=False)
        self.bias = nn.Parameter(torch.cat([linear.bias.detach() for linear in three]), requires_grad=False)
        self.output = attention.o

    def forward(self, hidden_states: Tensor, bias: Tensor) -> Tensor:
        """Attend among the tokens of each window: (W, L, H)."""
        windows, length, width = hidden_states.shape
        together = F.linear(hidden_states, self.weight, self.bias).view(windows, length, 3, self._heads, -1)
        queries, keys, values = together.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
        output: Tensor = self.output(attended.transpose(1, 2).reshape(windows, length, width))
        return output
