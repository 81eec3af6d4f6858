"""Networks made ready for a GPU: products in bfloat16, and fused attention also where transformers has none."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import MPNetModel
from transformers.activations import GELUActivation
from transformers.modeling_outputs import BaseModelOutput

from zerotag.modeling.heads import SoftAttention
from zerotag.modeling.network import Network

_ALIGNMENT = 16  # of the rows of an attention bias: fused attention would copy any other


def is_transformer(network: Network) -> bool:
    """Whether it has a transformer; an LSTM has its own fused kernels."""
    return hasattr(network.encoder.config, "num_attention_heads")


def for_inference(network: Network, dtype: torch.dtype = torch.bfloat16) -> Network:
    """A copy for inference: the encoder in bfloat16, and so the factors of the one large product of each head."""
    made = _half(network, dtype)
    heads: list[Any] = [module for module in made.modules() if isinstance(module, SoftAttention)]
    for head in heads:
        head.attention_hidden = HalfProduct(head.attention_hidden, dtype)
    return made.eval()


def _half(network: Network, dtype: torch.dtype) -> Network:
    """A copy that shares the weights of heads and has those of the encoder in half precision."""
    theirs = {id(weight): nn.Parameter(weight.detach().to(dtype), False) for weight in network.encoder.parameters()}
    shared = {id(weight): weight for weight in network.parameters() if id(weight) not in theirs}
    made = copy.deepcopy(network, theirs | shared)
    fuse(made)
    return made


def fuse(network: Network) -> None:
    """Give an encoder fused attention, if it is one that transformers has none for, and fused activations."""
    encoder: Any = network.encoder
    if isinstance(network.encoder, MPNetModel):
        encoder.encoder = FusedLayers(encoder.encoder).train(encoder.training)
    for layer in list(encoder.modules()):
        within = getattr(layer, "intermediate", None)
        if isinstance(getattr(within, "intermediate_act_fn", None), GELUActivation):
            layer.intermediate = FusedIntermediate(within)


class CopiedWeight(NamedTuple):
    """A weight of the copy's encoder, and those of the network whose rows it has, one below the other."""

    made: nn.Parameter
    wholes: tuple[nn.Parameter, ...]

    def rows(self, of: Tensor) -> tuple[Tensor, ...]:
        """The parts of the weight, or of its gradient, that belong to each of the network's."""
        return torch.split(of, [len(whole) for whole in self.wholes])


class Bf16Copy:
    """A bfloat16 copy that computes the gradients of a network, which keeps its weights in full precision.

    Under autocast every product converts its inputs, weights and gradients by itself: hundreds of small kernels. Here
    the weights are converted at once before a step, and their gradients after it.
    """

    def __init__(self, network: Network, dtype: torch.dtype = torch.bfloat16) -> None:
        self.network = _half(network, dtype)
        self.network.encoder.requires_grad_(True)
        wholes = dict(network.encoder.named_parameters())
        self._copied = [
            CopiedWeight(made, (wholes[name],) if name in wholes else FusedAttention.parts(name, wholes))
            for name, made in self.network.encoder.named_parameters()
        ]

    @torch.no_grad()
    def take_weights(self) -> None:
        """Have the weights that the network has now."""
        rows = [part for one in self._copied for part in one.rows(one.made)]
        torch._foreach_copy_(rows, [whole for one in self._copied for whole in one.wholes])

    def give_gradients(self) -> None:
        """Give the network the gradients that were found here. Those of the head are its own."""
        wholes: list[Tensor] = []
        gradients: list[Tensor] = []
        for one in self._copied:
            if one.made.grad is not None:
                wholes += one.wholes
                gradients += one.rows(one.made.grad)
        given = [torch.empty_like(whole) for whole in wholes]
        torch._foreach_copy_(given, gradients)
        for whole, gradient in zip(wholes, given, strict=True):
            whole.grad = gradient


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
        """Run all layers."""
        bias = self._bias(hidden_states, attention_mask)
        states: list[Any] = [hidden_states]
        for layer in self.layer:
            within = layer.attention
            attended = within.LayerNorm(within.dropout(within.attn(states[-1], bias)) + states[-1])
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
        # Zeros, since a kernel that reads whole rows multiplies what is past their end by 0, and memory may hold a NaN.
        bias = by_distance.new_zeros(windows, by_distance.shape[-1], length, room)[..., :length]
        bias.copy_(by_distance.permute(2, 0, 1))
        return bias if mask is None else bias.add_(mask)


class FusedIntermediate(nn.Module):
    """The first half of a feed-forward layer, whose activation is computed as the product is written."""

    def __init__(self, intermediate: Any) -> None:
        super().__init__()
        self.dense: nn.Linear = intermediate.dense
        self._activation: nn.Module = intermediate.intermediate_act_fn

    def forward(self, hidden_states: Tensor) -> Tensor:
        """From (W, L, H) to the wider layer."""
        if torch.is_grad_enabled() or not hidden_states.is_cuda:
            activated: Tensor = self._activation(self.dense(hidden_states))
            return activated
        # By a tanh instead of the error function, from which bfloat16 can hardly tell it.
        rows = torch._addmm_activation(
            self.dense.bias, hidden_states.flatten(0, 1), self.dense.weight.t(), use_gelu=True
        )
        return rows.view(*hidden_states.shape[:2], -1)


class HalfProduct(nn.Module):
    """A linear layer whose factors are rounded and whose sums are not: scores are ranked, and should not tie."""

    def __init__(self, whole: nn.Linear, dtype: torch.dtype) -> None:
        super().__init__()
        self._weight = whole.weight.detach().to(dtype)
        self.bias = whole.bias

    def forward(self, inputs: Tensor) -> Tensor:
        """The outputs, in full precision."""
        rows, weight = inputs.flatten(0, -2).to(self._weight.dtype), self._weight.t()
        # A processor has no such product.
        product = torch.mm(rows, weight, out_dtype=torch.float32) if rows.is_cuda else rows.float() @ weight.float()
        return (product + self.bias).view(*inputs.shape[:-1], -1)


class FusedAttention(nn.Module):
    """MPNet's self-attention: one product for queries, keys and values, and one kernel for what follows."""

    def __init__(self, attention: Any) -> None:
        super().__init__()
        self._heads = attention.num_attention_heads
        self.dropout = attention.dropout.p
        three = attention.q, attention.k, attention.v
        self.qkv = copy.deepcopy(attention.q)
        self.qkv.weight = nn.Parameter(torch.cat([one.weight.detach() for one in three]), requires_grad=False)
        self.qkv.bias = nn.Parameter(torch.cat([one.bias.detach() for one in three]), requires_grad=False)
        self.o = attention.o

    @staticmethod
    def parts(name: str, weights: Mapping[str, nn.Parameter]) -> tuple[nn.Parameter, ...]:
        """Those of MPNet's weights that one of ours is made of."""
        return tuple(weights[name.replace(".qkv.", f".{part}.")] for part in "qkv")

    def forward(self, hidden_states: Tensor, bias: Tensor) -> Tensor:
        """Attend among the tokens of each window: (W, L, H)."""
        windows, length, width = hidden_states.shape
        three = self.qkv(hidden_states).view(windows, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        attended = self._attend(three, bias) if torch.is_grad_enabled() else _attend_at_once(three, bias)
        output: Tensor = self.o(attended.transpose(1, 2).reshape(windows, length, width))
        return output

    def _attend(self, three: Tensor, bias: Tensor) -> Tensor:
        """Step by step: (W, heads, L, H / heads).

        With a bias, the gradients of the fused kernel may be not numbers though its output is right, as in
        https://github.com/pytorch/pytorch/issues/178251.
        """
        queries, keys, values = three.contiguous().flatten(1, 2)
        scores = torch.baddbmm(bias.flatten(0, 1), queries, keys.transpose(1, 2), alpha=keys.shape[-1] ** -0.5)
        weights = F.dropout(scores.softmax(dim=-1), self.dropout, self.training)
        return torch.bmm(weights, values).view(three.shape[1:])


def _attend_at_once(three: Tensor, bias: Tensor) -> Tensor:
    """Fused: (W, heads, L, H / heads)."""
    queries, keys, values = three
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
