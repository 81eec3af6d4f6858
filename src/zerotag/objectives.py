"""What a training step makes smaller: one number from a batch, its labels and, if there is a teacher, its targets."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from zerotag.config import TrainConfig
from zerotag.model import Network, TensorBatch
from zerotag.soft_attention import loss, taught_loss
from zerotag.teaching import Teacher

Objective = Callable[[Network, TensorBatch, Tensor, Tensor | None], Tensor]
"""From a network, a batch, labels (S, K) and targets (S, T, K) to one number."""


def plain(training: TrainConfig) -> Objective:
    """The losses of the paper, or of the BiLSTM's."""

    def objective(network: Network, batch: TensorBatch, labels: Tensor, _: Tensor | None) -> Tensor:
        return loss(network(batch), batch.token_mask, labels, training.gamma, training.loss)

    return objective


def each_head(training: TrainConfig) -> Objective:
    """The losses of the paper, averaged over a teacher's heads."""

    def objective(teacher: Network, batch: TensorBatch, labels: Tensor, _: Tensor | None) -> Tensor:
        assert isinstance(teacher, Teacher)
        outputs = teacher.outputs(teacher.encode(batch), batch)
        losses = [loss(output, batch.token_mask, labels, training.gamma, training.loss) for output in outputs]
        return torch.stack(losses).mean()

    return objective


def taught(training: TrainConfig) -> Objective:
    """Sentence labels, and the teacher's word scores."""

    def objective(network: Network, batch: TensorBatch, labels: Tensor, targets: Tensor | None) -> Tensor:
        assert targets is not None
        return taught_loss(network(batch), batch.token_mask, labels, targets, training.word_weight)

    return objective
