"""The paper's equations (Bujel, Yannakoudakis & Rei 2021), one number at a time: slow, and plain to check by eye."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from zerotag.modeling.heads import SoftAttention

Vector = Sequence[float]
Matrix = Sequence[Vector]


class Parameters(NamedTuple):
    """Weights of the head for one label."""

    w_e: Matrix
    b_e: Vector
    w_e2: Vector
    b_e2: float
    w_d: Matrix
    b_d: Vector
    w_y: Vector
    b_y: float
    beta: float

    @classmethod
    def of(cls, head: SoftAttention, label: int) -> Parameters:
        """Label `label`'s own weights, and those it shares with the others."""
        return cls(
            head.attention_hidden.weight.tolist(),
            head.attention_hidden.bias.tolist(),
            head.attention_score.weight[label].tolist(),
            head.attention_score.bias[label].item(),
            head.sentence_hidden.weight.tolist(),
            head.sentence_hidden.bias.tolist(),
            head.sentence_score.weight[label].tolist(),
            head.sentence_score.bias[label].item(),
            head.beta,
        )


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def raw_attention(p: Parameters, token: Vector) -> float:
    """Equation 1: e = tanh(W_e T + b_e), and W e + b from it."""
    e = [math.tanh(_dot(row, token) + bias) for row, bias in zip(p.w_e, p.b_e, strict=True)]
    return _dot(p.w_e2, e) + p.b_e2


def token_scores(p: Parameters, tokens: Matrix) -> list[float]:
    return [sigmoid(raw_attention(p, token)) for token in tokens]


def weights(scores: Vector, beta: float) -> list[float]:
    """The weighted normalisation; soft attention is beta = 1."""
    powers = [score**beta for score in scores]
    return [power / sum(powers) for power in powers]


def sentence_score(p: Parameters, tokens: Matrix) -> float:
    """c = sum of a_i T_i, d = tanh(W_d c + b_d), y = sigmoid(W_y d + b_y)."""
    attention = weights(token_scores(p, tokens), p.beta)
    c = [sum(a * token[h] for a, token in zip(attention, tokens, strict=True)) for h in range(len(tokens[0]))]
    d = [math.tanh(_dot(row, c) + bias) for row, bias in zip(p.w_d, p.b_d, strict=True)]
    return sigmoid(_dot(p.w_y, d) + p.b_y)


def loss(predicted: Vector, scores: Matrix, gold: Vector, gamma: float) -> float:
    """L1 + gamma (L2 + L3) over sentences, each with its sentence score, its token scores and its label."""
    count = len(gold)
    l1 = sum(-math.log(y) if label else -math.log(1 - y) for y, label in zip(predicted, gold, strict=True)) / count
    l2 = sum((min(its) - 0) ** 2 for its in scores) / count
    l3 = sum((max(its) - label) ** 2 for its, label in zip(scores, gold, strict=True)) / count
    return l1 + gamma * (l2 + l3)


def _dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
