"""AdaDelta as the BiLSTM was published with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from zerotag.training.optimizers import OptimizerSpec


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


ADADELTA = OptimizerSpec(
    create=lambda network, training: RowAdadelta(network.parameters(), lr=training.learning_rate),
    learning_rate=lambda _: 1.0,
    rate=lambda _training, _step, _steps, dev_f1s: lower_when_stuck(dev_f1s),
    clips=False,
)
