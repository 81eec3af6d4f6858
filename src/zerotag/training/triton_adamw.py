"""AdamW's step for the matrices of a network on a GPU, in one pass over its memory.

A step of few sentences spends a third of its time on the weights, which are many: converting gradients, clipping them,
applying them, converting the new weights back. Each by itself reads and writes everything again, 52 bytes a weight.
Here a single kernel does it all, and 30 bytes are left. It needs Triton, which comes with PyTorch's builds for Linux.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.optim import AdamW

from zerotag.modeling.bf16_copy import Twin

_BLOCK = 1024  # numbers that one program of the kernel updates


@cache
def works(device: torch.device) -> bool:
    """Whether a kernel can be built for the current device: Triton needs a compiler, which not every machine has."""
    weight, mean, square, half = (torch.zeros(1, device=device) for _ in range(4))
    try:
        _kernel[(1,)](weight, half, half, mean, square, torch.ones(4, device=device), 0.1, 0.1, 0.1, 0.1, 1, _BLOCK)
    except Exception:  # whatever went wrong, there is another way
        return False
    return True


class OnePass:
    """Clips the gradients of all weights that AdamW has, and takes its step.

    The matrices of a stand-in are updated together with their twins of the network; AdamW does the rest. Its state is
    where it would be otherwise, so that checkpoints are the same.
    """

    def __init__(self, optimizer: AdamW, matrices: Sequence[Twin]) -> None:
        self._optimizer = optimizer
        self._matrices = matrices
        self._group_of = {weight: group for group in optimizer.param_groups for weight in group["params"]}

    @torch.no_grad()
    def step(self, largest_norm: float) -> None:
        """Scale all gradients down to a norm, if theirs is larger, and update the weights by them."""
        learning = [twin for twin in self._matrices if twin.made.grad is not None]
        halves = [twin.made.grad for twin in learning if twin.made.grad is not None]
        rest = [weight.grad for weight in self._group_of if weight.grad is not None]
        norms = torch._foreach_norm(halves, 2, torch.float32) + torch._foreach_norm(rest, 2)
        clip = (largest_norm / (torch.stack(norms).norm() + 1e-6)).clamp(max=1.0)
        torch._foreach_mul_(rest, clip)
        self._optimizer.step()
        self._update(learning, clip)

    def _update(self, learning: Sequence[Twin], clip: Tensor) -> None:
        wholes = [whole for twin in learning for whole in twin.wholes]
        torch._foreach_add_([self._state(whole)["step"] for whole in wholes], 1)
        factors = self._factors(wholes[0], clip)
        for twin in learning:
            assert twin.made.grad is not None
            for whole, half, gradient in zip(twin.wholes, twin.rows(twin.made), twin.rows(twin.made.grad), strict=True):
                self._launch(whole, half, gradient, factors)

    def _state(self, whole: Tensor) -> dict[str, Tensor]:
        state: dict[str, Tensor] = self._optimizer.state[whole]
        if not state:
            state["step"] = torch.zeros((), device=whole.device)
            state["exp_avg"] = torch.zeros_like(whole)
            state["exp_avg_sq"] = torch.zeros_like(whole)
        return state

    def _factors(self, whole: Tensor, clip: Tensor) -> Tensor:
        """What the kernel multiplies and divides by, the same for all matrices, which learn from the first step on."""
        group = self._group_of[whole]
        step = self._state(whole)["step"].double()
        unbiased_mean, unbiased_square = (1 - beta**step for beta in group["betas"])
        return torch.stack([clip, group["lr"], group["lr"] / unbiased_mean, unbiased_square.sqrt()]).float()

    def _launch(self, whole: Tensor, half: Tensor, gradient: Tensor, factors: Tensor) -> None:
        group, state = self._group_of[whole], self._state(whole)
        beta_of_mean, beta_of_square = group["betas"]
        _kernel[(triton.cdiv(whole.numel(), _BLOCK),)](
            whole,
            half,
            gradient,
            state["exp_avg"],
            state["exp_avg_sq"],
            factors,
            group["weight_decay"],
            1 - beta_of_mean,
            1 - beta_of_square,
            group["eps"],
            whole.numel(),
            _BLOCK,
        )


@triton.jit  # type: ignore[untyped-decorator]
def _kernel(  # type: ignore[no-untyped-def]
    weights,
    halves,
    gradients,
    means,
    squares,
    factors,
    decay,
    share_of_mean,
    share_of_square,
    epsilon,
    count,
    block: tl.constexpr,
):
    place = tl.program_id(0) * block + tl.arange(0, block)
    there = place < count
    clip, rate, size, root = tl.load(factors), tl.load(factors + 1), tl.load(factors + 2), tl.load(factors + 3)
    gradient = tl.load(gradients + place, mask=there).to(tl.float32) * clip
    mean = tl.load(means + place, mask=there)
    mean += share_of_mean * (gradient - mean)
    square = tl.load(squares + place, mask=there)
    square += share_of_square * (gradient * gradient - square)
    weight = tl.load(weights + place, mask=there)
    weight -= rate * decay * weight
    weight -= size * mean / (tl.sqrt(square) / root + epsilon)
    tl.store(means + place, mean, mask=there)
    tl.store(squares + place, square, mask=there)
    tl.store(weights + place, weight, mask=there)
    tl.store(halves + place, weight.to(halves.dtype.element_ty), mask=there)
