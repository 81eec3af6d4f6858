"""The attention head and its three losses: pure tensors.

Shapes: S sentences, T tokens (padded), H encoder width, K labels. Equations are those of Bujel, Yannakoudakis & Rei
(2021), written for K labels that share the two hidden layers; the paper's binary task is K = 1.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zerotag.config import Loss


class HeadOutput(NamedTuple):
    """What a head says of a batch."""

    sentence_logits: Tensor
    """(S, K); the sentence score is their sigmoid."""

    token_logits: Tensor | None
    """(S, T, K); the token score is their sigmoid. None for a head that does not score tokens."""


class Share(NamedTuple):
    """How much of a batch is in one of its parts: of its sentences, and of their tokens."""

    sentences: float = 1.0
    tokens: float = 1.0


WHOLE = Share()


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


def loss(output: HeadOutput, mask: Tensor, labels: Tensor, gamma: float, kind: Loss = "cross-entropy") -> Tensor:
    """L1 + gamma (L2 + L3) over sentences and labels; `labels` (S, K) are 0.0 or 1.0.

    They are averaged, and L1 is the cross-entropy; as in Rei & Søgaard (2018), they are summed and L1 is the squared
    error, where the kind is `squared`.
    """
    logits = output.sentence_logits.float()
    if kind == "twice-squashed":
        # The reference has two outputs per sentence, takes the sigmoid of each, and gives both to a softmax: with
        # outputs (z0, z1), the probability is sigmoid(sigmoid(z1) - sigmoid(z0)). Our one logit z stands for the
        # pair (-z, z), which stays one under that loss, as its two gradients are then each other's negative:
        # sigmoid(z) - sigmoid(-z) = tanh(z / 2). So the probability never leaves 0.27 .. 0.73, while the sentence
        # score, sigmoid(z), and what follows from its threshold are what they always are.
        logits = torch.tanh(logits / 2)
    if kind == "squared":
        losses = (torch.sigmoid(logits) - labels).square()
    else:
        losses = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    if output.token_logits is not None:
        lowest, highest = extreme_scores(output.token_logits, mask)
        losses = losses + gamma * (lowest.square() + (highest - labels).square())
    return losses.sum() if kind == "squared" else losses.mean()


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
