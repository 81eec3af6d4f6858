"""The optimizers, and how the rate changes in the course of a training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from zerotag.config import TrainConfig


def optimizer(network: nn.Module, training: TrainConfig) -> Optimizer:
    """The configured optimizer. AdamW decays matrices only, not biases and normalisation."""
    assert training.learning_rate is not None
    if training.optimizer == "adadelta":
        return RowAdadelta(network.parameters(), lr=training.learning_rate)
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


def learning_rate(training: TrainConfig, width: int) -> float:
    """The configured rate, else one that suits: AdamW takes larger steps for encoders of a small width."""
    return training.learning_rate or (1.0 if training.optimizer == "adadelta" else 1e-4 * (384 / width))


def warmup_share(training: TrainConfig) -> float:
    """Share of the steps in which the rate climbs; above 1, the training ends before the climb does."""
    assert training.batch_size is not None  # it was chosen by now
    return training.warmup * (training.batch_size if training.warmup_unit == "sentences" else 1)


def warm_then_linear(step: int, steps: int, warmup: float) -> float:
    """Share of the peak rate at a step: a linear climb over the first `warmup` of the steps, then down to 0."""
    warm = warmup * steps
    return (step + 1) / warm if step + 1 < warm else (steps - step) / (steps - warm + 1)


def lower_when_stuck(dev_f1s: Sequence[float]) -> float:
    """Share of the rate after some epochs: a tenth less for each epoch that is more than 3 past the best so far."""
    share, best = 1.0, 0
    for epoch, f1 in enumerate(dev_f1s):
        if f1 > dev_f1s[best]:
            best = epoch
        elif epoch - best > 3:
            share *= 0.9
    return share


class RowAdadelta(Optimizer):
    """AdaDelta (Zeiler 2012) that lets a row's averages rest while the row has no gradient.

    So they are kept for the vectors of rare words. That is how TensorFlow does it, with which the BiLSTM was published
    and whose constants these are; PyTorch's own AdaDelta lets them fade, and meets each rare word as if for the first
    time.
    """

    DECAY = 0.95
    EPSILON = 1e-8

    def __init__(self, parameters: Iterable[nn.Parameter], *, lr: float) -> None:
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]  # no closure: nobody here re-evaluates a loss
        """Update the parameters by their gradients."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.sub_(self._change(parameter, parameter.grad), alpha=group["lr"])

    def _change(self, parameter: Tensor, gradient: Tensor) -> Tensor:
        state = self.state[parameter]
        if not state:
            state["gradient_square"] = torch.zeros_like(parameter)
            state["change_square"] = torch.zeros_like(parameter)
        resting = (gradient == 0).all(dim=-1, keepdim=True)
        weight = torch.where(resting, 0.0, 1 - self.DECAY)
        state["gradient_square"].lerp_(gradient.square(), weight)
        ratio = (state["change_square"] + self.EPSILON) / (state["gradient_square"] + self.EPSILON)
        change: Tensor = ratio.sqrt_() * gradient
        state["change_square"].lerp_(change.square(), weight)
        return change
