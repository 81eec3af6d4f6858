"""One step of a training: forward, backward, update. On a GPU it is replayed as a single launch.

A step of few sentences is hundreds of small kernels, which take longer to launch than to run. So the first batch of
each shape is computed as usual, the second is captured in a CUDA graph, and from then on the graph is replayed. Both
ways run the same kernels on the same random numbers and give the same weights.

A batch of long sentences may need more memory than there is: it comes in parts, whose gradients add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from zerotag.inference.devices import precision
from zerotag.modeling.bf16_copy import Bf16Copy, is_transformer
from zerotag.modeling.losses import WHOLE, Share
from zerotag.modeling.network import Network, TensorBatch
from zerotag.text.batches import Batch
from zerotag.training.objectives import Objective

LARGEST_GRADIENT = 1.0  # norm above which gradients are scaled down, the customary value


class Part(NamedTuple):
    """Sentences that go through the network together, with their labels, what their tokens should score, and how much
    of the step's batch they are."""

    batch: Batch
    labels: Tensor
    targets: Tensor | None
    share: Share = WHOLE


class OnDevice(NamedTuple):
    """A part that is where the network is."""

    batch: TensorBatch
    labels: Tensor
    targets: Tensor | None
    share: Share

    def take(self, other: OnDevice) -> None:
        """Have what another part of the same shape has."""
        ours, theirs = ([*part.batch, part.labels, part.targets] for part in (self, other))
        for place, value in zip(ours, theirs, strict=True):
            if isinstance(place, Tensor) and isinstance(value, Tensor):
                place.copy_(value)


@dataclass(frozen=True, slots=True, eq=False)
class Captured:
    """A step as a graph, with the places it reads its sentences from and writes its loss to."""

    graph: torch.cuda.CUDAGraph
    part: OnDevice
    loss: Tensor


class Speedups(NamedTuple):
    """What makes a step quick on a GPU; each can be left out, to measure what it is worth."""

    cuda_graph: bool = True
    bf16_copy: bool = True


ALL_SPEEDUPS = Speedups()


@dataclass(eq=False)
class Steps:
    """Takes the steps of one training, in the course of which nobody else changes the weights."""

    network: Network
    objective: Objective
    optimizer: Optimizer
    _: KW_ONLY
    clipped: bool
    speedups: Speedups = ALL_SPEEDUPS
    copy: Bf16Copy | None = None
    """What computes the gradients in place of the network. By default a transformer on a GPU has one."""

    def __post_init__(self) -> None:
        self._device = next(self.network.parameters()).device
        self._capturing = isinstance(self.optimizer, AdamW) and self.speedups.cuda_graph
        on_gpu = self._device.type == "cuda"
        if self.copy is None and on_gpu and self.speedups.bf16_copy and is_transformer(self.network):
            self.copy = Bf16Copy(self.network)
        self._seen: set[tuple[int, ...]] = set()
        self._captured: dict[tuple[int, ...], Captured] = {}
        # All of it happens in one stream, since a graph cannot be captured in the default one.
        self._stream = torch.cuda.Stream(self._device) if on_gpu else None

    @property
    def token_budget(self) -> int:
        """Padded sub-words whose gradients are computed at a time: a few long documents would need gigabytes."""
        return 4_096 if self._stream is None else 32_768

    @property
    def length_step(self) -> int:
        """Batches should be padded to a multiple of so many sub-words: on a GPU their shapes have to come again."""
        return 1 if self._stream is None else 8

    def take(self, parts: Sequence[Part], *, rate: float, seed: int) -> Tensor:
        """Learn from one batch, with dropout drawn from the seed; returns its loss, which stays on the device."""
        torch.manual_seed(seed)
        self._set_rate(rate)
        self.network.train()
        if self.copy is not None:
            self.copy.network.train()
        if self._stream is None:
            return self._step([self._on_device(part) for part in parts])
        outside = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(outside)
        with torch.cuda.stream(self._stream):
            value = self._take_on_gpu(parts)
        outside.wait_stream(self._stream)
        return value

    def _set_rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)  # a graph reads it from where it is
            else:
                group["lr"] = rate

    def _on_device(self, part: Part) -> OnDevice:
        batch, labels, targets, share = part
        return OnDevice(
            TensorBatch.of(batch, self._device),
            labels.to(self._device, non_blocking=True),
            None if targets is None else targets.to(self._device, non_blocking=True),
            share,
        )

    def _take_on_gpu(self, parts: Sequence[Part]) -> Tensor:
        batch = parts[0].batch
        capturable = self._capturing and len(parts) == 1 and batch.stitch is None and not batch.extra
        if not capturable:
            return self._step([self._on_device(part) for part in parts])
        part = self._on_device(parts[0])
        shape = tuple(part.batch.input_ids.shape)
        if shape not in self._seen:
            self._seen.add(shape)
            return self._step([part])
        captured = self._captured.get(shape) or self._capture(part)
        if captured is None:
            return self._step([part])
        self._captured[shape] = captured
        captured.part.take(part)
        captured.graph.replay()
        return captured.loss.clone()

    def _capture(self, part: OnDevice) -> Captured | None:
        """The step as a graph; None for an encoder that copies from the host, which no graph can hold."""
        # One graph runs at a time and leaves nothing behind but weights: all of them may use the same memory.
        pool = next(iter(self._captured.values())).graph.pool() if self._captured else None
        self.optimizer.zero_grad()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=pool, stream=self._stream):
                value = self._step([part])
        except RuntimeError:
            self._capturing = False
            return None
        return Captured(graph, part, value)

    def _step(self, parts: Sequence[OnDevice]) -> Tensor:
        self.optimizer.zero_grad()
        if self.copy is not None:
            self.copy.take_weights()
            self.copy.network.encoder.zero_grad()
        values = [self._backward(part) for part in parts]
        if self.copy is not None:
            self.copy.give_gradients()
        self._update()
        return values[0] if len(values) == 1 else torch.stack(values).sum()

    def _update(self) -> None:
        if self.clipped:
            nn.utils.clip_grad_norm_(self.network.parameters(), LARGEST_GRADIENT)
        self.optimizer.step()

    def _backward(self, part: OnDevice) -> Tensor:
        """Add the gradients of a part to those that are there; returns what it adds to the loss."""
        network = self.network if self.copy is None else self.copy.network
        with precision(self._device) if self.copy is None else nullcontext():
            value = self.objective(network, part.batch, part.labels, part.targets, part.share)
        value.backward()
        return value.detach()
