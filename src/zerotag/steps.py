"""One step of a training: forward, backward, update. On a GPU it is replayed as a single launch.

A step of few sentences is hundreds of small kernels, which take longer to launch than to run. So the first batch of
each shape is computed as usual, the second is captured in a CUDA graph, and from then on the graph is replayed. Both
ways run the same kernels on the same random numbers and give the same weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from zerotag.align import Batch
from zerotag.fused import StandIn, can_be_lean
from zerotag.inference import precision
from zerotag.model import Network, TensorBatch
from zerotag.objectives import Objective

LARGEST_GRADIENT = 1.0  # norm above which gradients are scaled down, the customary value


@dataclass(frozen=True, slots=True, eq=False)
class Captured:
    """A step as a graph, with the places it reads its batch from and writes its loss to."""

    graph: torch.cuda.CUDAGraph
    batch: TensorBatch
    labels: Tensor
    targets: Tensor | None
    loss: Tensor


class Steps:
    """Takes the steps of one training."""

    def __init__(self, network: Network, objective: Objective, optimizer: Optimizer, *, clipped: bool) -> None:
        self._network = network
        self._objective = objective
        self._optimizer = optimizer
        self._clipped = clipped
        self._device = next(network.parameters()).device
        self._capturing = isinstance(optimizer, AdamW)
        on_gpu = self._device.type == "cuda"
        self._stand_in = StandIn(network) if on_gpu and can_be_lean(network) else None
        self._seen: set[tuple[int, ...]] = set()
        self._captured: dict[tuple[int, ...], Captured] = {}
        # All of it happens in one stream, since a graph cannot be captured in the default one.
        self._stream = torch.cuda.Stream(self._device) if on_gpu else None

    @property
    def length_step(self) -> int:
        """Batches should be padded to a multiple of so many sub-words: on a GPU their shapes have to come again."""
        return 1 if self._stream is None else 8

    def take(self, batch: Batch, labels: Tensor, targets: Tensor | None, *, rate: float, seed: int) -> Tensor:
        """Learn from one batch, with dropout drawn from the seed; returns its loss, which stays on the device."""
        torch.manual_seed(seed)
        self._set_rate(rate)
        self._network.train()
        if self._stand_in is not None:
            self._stand_in.network.train()
        if self._stream is None:
            return self._step(TensorBatch.of(batch, self._device), labels, targets)
        outside = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(outside)
        with torch.cuda.stream(self._stream):
            value = self._take_on_gpu(batch, labels, targets)
        outside.wait_stream(self._stream)
        return value

    def _set_rate(self, rate: float) -> None:
        for group in self._optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)  # a graph reads it from where it is
            else:
                group["lr"] = rate

    def _take_on_gpu(self, batch: Batch, labels: Tensor, targets: Tensor | None) -> Tensor:
        capturable = self._capturing and batch.stitch is None and batch.spellings is None
        tensors, labels = TensorBatch.of(batch, self._device), labels.to(self._device, non_blocking=True)
        targets = None if targets is None else targets.to(self._device, non_blocking=True)
        shape = tuple(tensors.input_ids.shape)
        if not capturable or shape not in self._seen:
            self._seen.add(shape)
            return self._step(tensors, labels, targets)
        captured = self._captured.get(shape) or self._capture(tensors, labels, targets)
        if captured is None:
            return self._step(tensors, labels, targets)
        self._captured[shape] = captured
        places = [*captured.batch, captured.labels, captured.targets]
        for place, value in zip(places, [*tensors, labels, targets], strict=True):
            if place is not None and value is not None:
                place.copy_(value)
        captured.graph.replay()
        return captured.loss.clone()

    def _capture(self, batch: TensorBatch, labels: Tensor, targets: Tensor | None) -> Captured | None:
        """The step as a graph; None for an encoder that copies from the host, which no graph can hold."""
        # One graph runs at a time and leaves nothing behind but weights: all of them may use the same memory.
        pool = next(iter(self._captured.values())).graph.pool() if self._captured else None
        self._optimizer.zero_grad()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=pool, stream=self._stream):
                value = self._step(batch, labels, targets)
        except RuntimeError:
            self._capturing = False
            return None
        return Captured(graph, batch, labels, targets, value)

    def _step(self, batch: TensorBatch, labels: Tensor, targets: Tensor | None) -> Tensor:
        self._optimizer.zero_grad()
        if self._stand_in is None:
            with precision(self._device):
                value = self._objective(self._network, batch, labels, targets)
            value.backward()
        else:
            self._stand_in.take_weights()
            value = self._objective(self._stand_in.network, batch, labels, targets)
            self._stand_in.network.encoder.zero_grad()
            value.backward()
            self._stand_in.give_gradients()
        if self._clipped:
            nn.utils.clip_grad_norm_(self._network.parameters(), LARGEST_GRADIENT)
        self._optimizer.step()
        return value.detach()
