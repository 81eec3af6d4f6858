"""The optimizers, and how the rate changes in the course of a training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.optim import AdamW, Optimizer

from zerotag.config import OPTIMIZERS, ChosenTrainConfig, TrainConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerSpec:
    """An optimizer as the registry has it."""

    create: Callable[[nn.Module, ChosenTrainConfig], Optimizer]

    learning_rate: Callable[[int], float]
    """The peak rate that suits an encoder of some width."""

    rate: Callable[[ChosenTrainConfig, int, int, Sequence[float]], float]
    """Share of the peak rate at a step of so many, after epochs with these F1 on the development set."""

    clips: bool = True
    """Whether gradients of a large norm are scaled down."""


def optimizer(network: nn.Module, training: ChosenTrainConfig) -> Optimizer:
    """The configured optimizer."""
    return OPTIMIZERS.get(training.optimizer).create(network, training)


def learning_rate(training: TrainConfig, width: int) -> float:
    """The configured rate, else one that suits the optimizer and the encoder's width."""
    return training.learning_rate or OPTIMIZERS.get(training.optimizer).learning_rate(width)


def _adamw(network: nn.Module, training: ChosenTrainConfig) -> Optimizer:
    """It decays matrices only, not biases and normalisation."""
    matrices = [p for p in network.parameters() if p.ndim >= 2]
    vectors = [p for p in network.parameters() if p.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": training.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    on_gpu = matrices[0].is_cuda
    # There the rate is a tensor, so that a step can be captured in a graph and replayed with another rate.
    rate = torch.tensor(training.learning_rate, device=matrices[0].device) if on_gpu else training.learning_rate
    return AdamW(groups, lr=rate, eps=training.adam_epsilon, fused=True, capturable=on_gpu)


def warm_then_linear(step: int, steps: int, warmup: float) -> float:
    """Share of the peak rate at a step: a linear climb over the first `warmup` of the steps, then down to 0."""
    warm = warmup * steps
    return (step + 1) / warm if step + 1 < warm else (steps - step) / (steps - warm + 1)


ADAMW = OptimizerSpec(
    create=_adamw,
    learning_rate=lambda width: 1e-4 * (384 / width),  # larger steps for encoders of a small width
    rate=lambda training, step, steps, _: warm_then_linear(step, steps, training.warmup),
)
