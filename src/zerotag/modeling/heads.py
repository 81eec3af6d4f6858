"""The heads: soft attention over tokens, and a plain sentence classifier. Pure tensors.

Shapes: S sentences, T tokens (padded), H encoder width, K labels. Equations are those of Bujel, Yannakoudakis & Rei
(2021), written for K labels that share the two hidden layers; the paper's binary task is K = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zerotag.config import ModelConfig


class HeadOutput(NamedTuple):
    """What a head says of a batch."""

    sentence_logits: Tensor
    """(S, K); the sentence score is their sigmoid."""

    token_logits: Tensor | None
    """(S, T, K); the token score is their sigmoid. None for a head that does not score tokens."""


class SoftAttention(nn.Module):
    """Weighted soft attention: sigmoid scores per token, sharpened by beta and normalised into attention weights."""

    def __init__(
        self, width: int, labels: int, *, attention_size: int, hidden_size: int, beta: float, dropout: float
    ) -> None:
        super().__init__()
        self.beta = beta
        self.dropout = nn.Dropout(dropout)
        self.attention_hidden = nn.Linear(width, attention_size)
        self.attention_score = nn.Linear(attention_size, labels)
        self.sentence_hidden = nn.Linear(width, hidden_size)
        self.sentence_score = nn.Linear(hidden_size, labels)
        initialise(self)

    def forward(self, tokens: Tensor, mask: Tensor) -> HeadOutput:
        """Score `tokens` (S, T, H), of which those outside `mask` (S, T) do not exist."""
        tokens = self.dropout(tokens)
        token_logits: Tensor = self.attention_score(torch.tanh(self.attention_hidden(tokens)))
        weights = attention_weights(token_logits, mask, self.beta)
        contexts = torch.einsum("stk,sth->skh", weights, tokens)
        hidden = torch.tanh(self.sentence_hidden(contexts))
        # Row k of the output layer reads label k's own context, not everybody's.
        sentence_logits = torch.einsum("skd,kd->sk", hidden, self.sentence_score.weight)
        return HeadOutput(sentence_logits + self.sentence_score.bias, token_logits)


class Classifier(nn.Module):
    """The plain sentence classifier on the first token's vector, as RoBERTa's: dense, tanh, output."""

    def __init__(self, width: int, labels: int, *, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.dense = nn.Linear(width, width)
        self.output = nn.Linear(width, labels)
        initialise(self)

    def forward(self, first: Tensor) -> HeadOutput:
        """Score sentences by their first token's vector, `first` (S, H)."""
        hidden = self.dropout(torch.tanh(self.dense(self.dropout(first))))
        return HeadOutput(self.output(hidden), None)


MakeHead = Callable[[int, int, ModelConfig], nn.Module]
"""Makes a head for an encoder's width, a number of labels and the settings of the model.

It is called with tokens (S, T, H) and the mask (S, T) of those that exist, and returns a `HeadOutput`.
"""


def soft_attention(width: int, labels: int, config: ModelConfig) -> SoftAttention:
    """The head that scores words."""
    return SoftAttention(
        width,
        labels,
        attention_size=config.attention_size or width,
        hidden_size=config.hidden_size,
        beta=config.beta,
        dropout=config.dropout,
    )


def classifier(width: int, labels: int, config: ModelConfig) -> Classifier:
    """The head that does not."""
    return Classifier(width, labels, dropout=config.dropout)


def initialise(head: nn.Module) -> None:
    """Glorot weights, zero biases."""
    for layer in head.modules():
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)


def attention_weights(token_logits: Tensor, mask: Tensor, beta: float) -> Tensor:
    """Sigmoid scores to the power beta, normalised over the tokens of each sentence: (S, T, K).

    Computed as a softmax of beta times the log-score, which is the same and does not underflow. The weights of a
    sentence without any token are all 0.
    """
    powers = beta * F.logsigmoid(token_logits.float())
    present = mask.unsqueeze(-1)
    return torch.softmax(powers.masked_fill(~present, torch.finfo(powers.dtype).min), dim=1) * present
