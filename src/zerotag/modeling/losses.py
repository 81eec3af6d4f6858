"""The losses: sentence labels through attention (the paper), and pseudo-labels of words (distillation). Pure tensors.

Shapes: S sentences, T tokens (padded), K labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from zerotag.config import LOSSES
from zerotag.modeling.heads import HeadOutput


class Share(NamedTuple):
    """How much of a batch is in one of its parts: of its sentences, and of their tokens."""

    sentences: float = 1.0
    tokens: float = 1.0


WHOLE = Share()


@dataclass(frozen=True, slots=True)
class SentenceLoss:
    """A loss of sentence scores, as the registry has it."""

    each: Callable[[Tensor, Tensor], Tensor]
    """From logits and labels, (S, K), to a loss of each, (S, K)."""

    is_sum: bool = False
    """Whether the losses of a batch are summed, and not averaged."""


def _cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, labels, reduction="none")


CROSS_ENTROPY = SentenceLoss(_cross_entropy)


def loss(output: HeadOutput, mask: Tensor, labels: Tensor, gamma: float, kind: str = "cross-entropy") -> Tensor:
    """L1 + gamma (L2 + L3) over sentences and labels; `labels` (S, K) are 0.0 or 1.0, L1 is the loss of that kind."""
    spec = LOSSES.get(kind)
    losses = spec.each(output.sentence_logits.float(), labels)
    if output.token_logits is not None:
        lowest, highest = extreme_scores(output.token_logits, mask)
        losses = losses + gamma * (lowest.square() + (highest - labels).square())
    return losses.sum() if spec.is_sum else losses.mean()


def taught_loss(
    output: HeadOutput, mask: Tensor, labels: Tensor, targets: Tensor, word_weight: float, share: Share = WHOLE
) -> Tensor:
    """The cross-entropy of sentence scores with labels, and of token scores with what they should be, (S, T, K).

    Each is a mean. So a part of a batch adds its share of sentences to one, and its share of tokens to the other.
    """
    assert output.token_logits is not None
    sentences = F.binary_cross_entropy_with_logits(output.sentence_logits.float(), labels)
    tokens = F.binary_cross_entropy_with_logits(output.token_logits.float(), targets, reduction="none")
    word_loss = share.tokens * word_weight * (tokens * mask.unsqueeze(-1)).sum() / (mask.sum() * labels.shape[1])
    return share.sentences * sentences + word_loss


def extreme_scores(token_logits: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The lowest and the highest token score of each sentence: twice (S, K)."""
    scores = torch.sigmoid(token_logits.float())
    absent = ~mask.unsqueeze(-1)
    return scores.masked_fill(absent, torch.inf).amin(dim=1), scores.masked_fill(absent, -torch.inf).amax(dim=1)
