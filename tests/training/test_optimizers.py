"""The optimizers and rates, against PyTorch's own and against numbers computed by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from zerotag.config import ChosenTrainConfig, TrainConfig
from zerotag.research.adadelta import RowAdadelta, lower_when_stuck
from zerotag.training.optimizers import learning_rate, optimizer, warm_then_linear


def test_adadelta_is_pytorchs_where_every_row_has_a_gradient() -> None:
    torch.manual_seed(0)
    ours = [nn.Parameter(torch.randn(3, 2)), nn.Parameter(torch.randn(4))]
    theirs = [nn.Parameter(parameter.detach().clone()) for parameter in ours]
    our_optimizer = RowAdadelta(ours, lr=0.7)
    their_optimizer = torch.optim.Adadelta(theirs, lr=0.7, rho=0.95, eps=1e-8)
    for _ in range(20):
        for mine, other in zip(ours, theirs, strict=True):
            mine.grad = torch.randn_like(mine)
            other.grad = mine.grad.clone()
        our_optimizer.step()
        their_optimizer.step()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other)


def test_adadelta_takes_up_a_rare_row_where_it_was_left() -> None:
    rare, alone = nn.Parameter(torch.zeros(2, 1)), nn.Parameter(torch.zeros(1, 1))
    for parameter, gradients in (
        (rare, [[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 2.0]]),  # the second row rests twice
        (alone, [[1.0], [2.0]]),
    ):
        its_optimizer = RowAdadelta([parameter], lr=1.0)
        for gradient in gradients:
            parameter.grad = torch.tensor(gradient).unsqueeze(1)
            its_optimizer.step()
    assert rare[1].item() == alone[0].item()
    first = math.sqrt(1e-8 / (0.05 + 1e-8))
    second = 2 * math.sqrt((0.05 * first**2 + 1e-8) / (0.95 * 0.05 + 0.05 * 4 + 1e-8))
    assert alone.item() == pytest.approx(-first - second)


def test_the_rate_is_lowered_only_after_three_epochs_without_a_better_f1() -> None:
    assert lower_when_stuck([]) == 1
    assert lower_when_stuck([0.5, 0.4, 0.5, 0.3]) == 1
    assert lower_when_stuck([0.5, 0.4, 0.5, 0.3, 0.2]) == pytest.approx(0.9)
    assert lower_when_stuck([0.5, 0.4, 0.5, 0.3, 0.2, 0.1, 0.6, 0.5]) == pytest.approx(0.81)


def test_the_rate_climbs_and_falls() -> None:
    shares = [warm_then_linear(step, 10, 0.4) for step in range(10)]
    assert shares == pytest.approx([1 / 4, 2 / 4, 3 / 4, 1, 6 / 7, 5 / 7, 4 / 7, 3 / 7, 2 / 7, 1 / 7])


def test_the_rate_is_the_configured_one_or_suits_the_optimizer() -> None:
    assert learning_rate(TrainConfig(learning_rate=0.3), 200) == 0.3
    assert learning_rate(TrainConfig(), 384) == pytest.approx(1e-4)
    assert learning_rate(TrainConfig(optimizer="adadelta"), 200) == 1.0


def test_adamw_decays_matrices_only() -> None:
    layer = nn.Linear(2, 2)
    made = optimizer(layer, ChosenTrainConfig(learning_rate=0.1, weight_decay=0.5))
    decays = {id(p): group["weight_decay"] for group in made.param_groups for p in group["params"]}
    assert decays == {id(layer.weight): 0.5, id(layer.bias): 0.0}
