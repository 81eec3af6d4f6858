"""The objectives of a training step: of a teacher, of a student with pseudo-labels, of weighted soft attention alone.

A batch may come in parts, of which each adds its share, so that together they make what the batch would at once.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from zerotag.config import LOSSES, TrainConfig
from zerotag.modeling.heads import HeadOutput
from zerotag.modeling.losses import Share, loss, taught_loss
from zerotag.modeling.network import Network, TensorBatch
from zerotag.training.teacher import Teacher

Objective = Callable[[Network, TensorBatch, Tensor, Tensor | None, Share], Tensor]
"""From a network, a part of a batch, its labels (S, K), targets (S, T, K) and share to one number."""


def plain(training: TrainConfig) -> Objective:
    """The losses of the paper, or of the BiLSTM's."""

    def objective(network: Network, batch: TensorBatch, labels: Tensor, _: Tensor | None, share: Share) -> Tensor:
        return _loss_of(network(batch), batch, labels, training, share)

    return objective


def each_head(training: TrainConfig) -> Objective:
    """The losses of the paper, averaged over a teacher's heads."""

    def objective(teacher: Network, batch: TensorBatch, labels: Tensor, _: Tensor | None, share: Share) -> Tensor:
        assert isinstance(teacher, Teacher)
        outputs = teacher.outputs(teacher.encode(batch), batch)
        return torch.stack([_loss_of(output, batch, labels, training, share) for output in outputs]).mean()

    return objective


def taught(training: TrainConfig) -> Objective:
    """Sentence labels, and the teacher's word scores."""

    def objective(network: Network, batch: TensorBatch, labels: Tensor, targets: Tensor | None, share: Share) -> Tensor:
        assert targets is not None
        return taught_loss(network(batch), batch.token_mask, labels, targets, training.word_weight, share)

    return objective


def _loss_of(output: HeadOutput, batch: TensorBatch, labels: Tensor, training: TrainConfig, share: Share) -> Tensor:
    value = loss(output, batch.token_mask, labels, training.gamma, training.loss)
    return value if LOSSES.get(training.loss).is_sum else share.sentences * value
