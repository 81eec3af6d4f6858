"""AdamW's step in one pass. Runs on a GPU; with Triton installed and TRITON_INTERPRET=1 also without one."""

from __future__ import annotations

import copy
import os

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector
from torch.optim import AdamW

from lessons import RATES, TRAINING, lessons, network_and_aligner, without_dropout
from zerotag.modeling.bf16_copy import StandIn, Twin
from zerotag.modeling.network import Network
from zerotag.text.alignment import Aligner
from zerotag.training.objectives import taught
from zerotag.training.optimizers import optimizer
from zerotag.training.steps import Part, Steps

pytest.importorskip("triton", reason="Triton, which comes with PyTorch's builds for a GPU, is not installed")
if not torch.cuda.is_available() and "TRITON_INTERPRET" not in os.environ:
    pytest.skip("there is no CUDA device", allow_module_level=True)

from zerotag.training.triton_adamw import OnePass, works

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def weights() -> list[nn.Parameter]:
    """Three matrices whose twins lie one below the other, one by itself, and a vector; no size is a round one."""
    torch.manual_seed(1)
    shapes = [(70, 33), (5, 33), (31, 33), (129, 17), (9,)]
    return [nn.Parameter(torch.randn(shape).to(DEVICE)) for shape in shapes]


def adamw(weights: list[nn.Parameter]) -> AdamW:
    groups = [{"params": weights[:4], "weight_decay": 0.1}, {"params": weights[4:], "weight_decay": 0.0}]
    return AdamW(groups, lr=torch.tensor(0.1, device=DEVICE), eps=1e-7, fused=True, capturable=DEVICE.type == "cuda")


def halves(weights: list[nn.Parameter]) -> list[Twin]:
    three, one = torch.cat([weight.detach() for weight in weights[:3]]), weights[3].detach()
    return [
        Twin(nn.Parameter(three.bfloat16()), tuple(weights[:3])),
        Twin(nn.Parameter(one.bfloat16()), (weights[3],)),
    ]


def gradients_of(weights: list[nn.Parameter], seed: int) -> list[Tensor]:
    torch.manual_seed(seed)
    return [torch.randn(weight.shape).bfloat16().to(DEVICE) for weight in weights]


def take_rate(optimizer: AdamW, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"].fill_(rate)


def test_a_kernel_can_be_built_here() -> None:
    assert works(DEVICE)


@pytest.mark.parametrize("largest_norm", [1.0, 1000.0])
def test_one_pass_gives_what_converting_clipping_and_applying_give(largest_norm: float) -> None:
    ours, theirs, untrained = weights(), weights(), weights()
    our_adamw, their_adamw = adamw(ours), adamw(theirs)
    three, one = halves(ours)
    step = OnePass(our_adamw, [three, one]).step
    for number, rate in enumerate(RATES):
        take_rate(our_adamw, rate)
        take_rate(their_adamw, rate)
        gradients = gradients_of(ours, number)
        three.made.grad, one.made.grad = torch.cat(gradients[:3]), gradients[3].clone()
        ours[4].grad = gradients[4].float()
        step(largest_norm)
        for weight, gradient in zip(theirs, gradients, strict=True):
            weight.grad = gradient.float()
        nn.utils.clip_grad_norm_(theirs, largest_norm)
        their_adamw.step()
    for our, their, former in zip(ours, theirs, untrained, strict=True):
        torch.testing.assert_close(our, their, rtol=1e-5, atol=1e-6)
        assert (our - former).abs().mean() > 1e-3
        for name, value in their_adamw.state[their].items():
            torch.testing.assert_close(our_adamw.state[our][name], value, rtol=1e-5, atol=1e-7, msg=name)
    for twin in (three, one):
        torch.testing.assert_close(twin.made.float(), torch.cat(twin.wholes), rtol=2**-7, atol=0)


def test_matrices_without_a_gradient_stay_as_they_are() -> None:
    ours = weights()
    optimizer = adamw(ours)
    three, one = halves(ours)
    former = ours[3].detach().clone()
    three.made.grad, ours[4].grad = torch.ones_like(three.made), torch.ones_like(ours[4])
    OnePass(optimizer, [three, one]).step(1.0)
    assert torch.equal(ours[3], former)
    assert not optimizer.state[ours[3]]
    assert not torch.equal(three.made[:70], weights()[0].bfloat16())


def matrices_after(network: Network, aligner: Aligner, *, in_one_pass: bool) -> Tensor:
    """What the matrices of a network are after a few steps with a stand-in, in one row."""
    pupil = copy.deepcopy(network).to(DEVICE)
    adam = optimizer(pupil, TRAINING)
    assert isinstance(adam, AdamW)
    for group in adam.param_groups:
        group["lr"] = torch.tensor(0.0, device=DEVICE)  # as on a GPU
    steps = Steps(pupil, taught(TRAINING), adam, clipped=True)
    steps._stand_in = StandIn(pupil)
    steps._one_pass = OnePass(adam, steps._stand_in.hand_over_matrices()) if in_one_pass else None
    for lesson, rate in zip(lessons(aligner), RATES, strict=True):
        steps.take([Part(*lesson)], rate=rate, seed=0)
    # Not the biases of keys, which softmax does not see: their gradients are rounding errors.
    return parameters_to_vector(weight for weight in pupil.parameters() if weight.ndim >= 2).detach()


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_steps_in_one_pass_are_those_in_many(family: str) -> None:
    network, aligner = network_and_aligner(family)
    without_dropout(network)
    one, many = (matrices_after(network, aligner, in_one_pass=in_one_pass) for in_one_pass in (True, False))
    untrained = parameters_to_vector(weight for weight in network.parameters() if weight.ndim >= 2).to(DEVICE)
    assert (one - many).norm() < 0.05 * (many - untrained).norm()
