"""Losses of sentence scores in published work, for comparison alone."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from zerotag.modeling.losses import SentenceLoss


def _squared(logits: Tensor, labels: Tensor) -> Tensor:
    return (torch.sigmoid(logits) - labels).square()


def _twice_squashed(logits: Tensor, labels: Tensor) -> Tensor:
    # The reference has two outputs per sentence, takes the sigmoid of each, and gives both to a softmax: with
    # outputs (z0, z1), the probability is sigmoid(sigmoid(z1) - sigmoid(z0)). Our one logit z stands for the
    # pair (-z, z), which stays one under that loss, as its two gradients are then each other's negative:
    # sigmoid(z) - sigmoid(-z) = tanh(z / 2). So the probability never leaves 0.27 .. 0.73, while the sentence
    # score, sigmoid(z), and what follows from its threshold are what they always are.
    return F.binary_cross_entropy_with_logits(torch.tanh(logits / 2), labels, reduction="none")


SQUARED = SentenceLoss(_squared, is_sum=True)
"""Rei & Søgaard (2018)."""

TWICE_SQUASHED = SentenceLoss(_twice_squashed)
"""The reference code of Bujel, Yannakoudakis & Rei (2021)."""
