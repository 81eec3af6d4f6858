"""What a training step makes smaller."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from transformers import AutoModel

import tiny
from zerotag.config import ModelConfig, TrainConfig
from zerotag.modeling.heads import HeadOutput
from zerotag.modeling.losses import WHOLE, loss, taught_loss
from zerotag.modeling.network import Network, TensorBatch
from zerotag.presets import PLAIN
from zerotag.text.alignment import Aligner
from zerotag.training.objectives import each_head, plain, taught
from zerotag.training.teacher import Teacher
from zerotag.types import Sentence

# The loss of a network that is taught, by hand


def logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def cross_entropy(target: float, probability: float) -> float:
    return -(target * math.log(probability) + (1 - target) * math.log(1 - probability))


# Two sentences of three and one tokens, two labels; what is beyond a sentence's end must not count.
MASK = torch.tensor([[True, True, True], [True, False, False]])
LABELS = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
SENTENCES = [[0.8, 0.3], [0.4, 0.1]]
TOKENS = [[[0.9, 0.2], [0.5, 0.1], [0.3, 0.6]], [[0.2, 0.3], [0.999, 0.999], [0.001, 0.001]]]
TARGETS = [[[1.0, 0.0], [0.25, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]]


def output() -> HeadOutput:
    tokens = [[[logit(p) for p in token] for token in sentence] for sentence in TOKENS]
    sentences = [[logit(p) for p in sentence] for sentence in SENTENCES]
    return HeadOutput(torch.tensor(sentences, requires_grad=True), torch.tensor(tokens, requires_grad=True))


@pytest.mark.parametrize("word_weight", [0.0, 1.0, 2.0])
def test_the_taught_loss_by_hand(word_weight: float) -> None:
    sentences = [cross_entropy(1, 0.8), cross_entropy(0, 0.3), cross_entropy(0, 0.4), cross_entropy(0, 0.1)]
    tokens = [
        cross_entropy(1, 0.9),
        cross_entropy(0, 0.2),
        cross_entropy(0.25, 0.5),
        cross_entropy(0, 0.1),
        cross_entropy(0, 0.3),
        cross_entropy(0, 0.6),
        cross_entropy(0, 0.2),
        cross_entropy(0, 0.3),
    ]
    value = taught_loss(output(), MASK, LABELS, torch.tensor(TARGETS), word_weight)
    assert value.item() == pytest.approx(sum(sentences) / 4 + word_weight * sum(tokens) / 8, rel=1e-5)


def test_what_is_beyond_a_sentences_end_is_not_learnt_from() -> None:
    said = output()
    assert said.token_logits is not None
    taught_loss(said, MASK, LABELS, torch.tensor(TARGETS), 2.0).backward()
    assert said.sentence_logits.grad is not None
    assert said.token_logits.grad is not None
    assert not said.token_logits.grad[~MASK].any()
    # The gradient of a cross-entropy is what is said less what should be; four labels, eight tokens times two.
    wanted = (torch.tensor(TOKENS) - torch.tensor(TARGETS)) * MASK.unsqueeze(-1) * 2 / 8
    torch.testing.assert_close(said.token_logits.grad, wanted, rtol=0, atol=1e-6)
    torch.testing.assert_close(said.sentence_logits.grad, (torch.tensor(SENTENCES) - LABELS) / 4, rtol=0, atol=1e-6)


# The three objectives

TEXTS = ("the pump may fails .", "a valve works at night under load .")


def parts(labels: int = 2) -> tuple[Network, Teacher, TensorBatch, Tensor]:
    config = ModelConfig(encoder="tiny", depth=2, dropout=0.0, window=32)
    labeller = tiny.labeller(labels=tuple("ab"[:labels]), config=config)
    shape = tiny.shape("bert", len(tiny.tokenizer()))
    teacher = Teacher(AutoModel.from_config(shape), labels, config).eval()
    aligner = Aligner(tiny.tokenizer().backend_tokenizer, window=32, pad_id=0)
    batch = aligner.batch(aligner.encode([Sentence.from_words(text.split()) for text in TEXTS]))
    return labeller.network, teacher, TensorBatch.of(batch, torch.device("cpu")), torch.tensor([[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("kind", ["cross-entropy", "squared", "twice-squashed"])
def test_plain_is_the_papers_loss(kind: str) -> None:
    network, _, batch, labels = parts()
    training = replace(PLAIN, gamma=0.7, loss=kind)
    expected = loss(network(batch), batch.token_mask, labels, 0.7, kind)
    assert plain(training)(network, batch, labels, None, WHOLE).item() == expected.item()


@pytest.mark.parametrize("kind", ["cross-entropy", "squared"])
def test_every_head_of_a_teacher_counts_alike(kind: str) -> None:
    _, teacher, batch, labels = parts()
    value = each_head(TrainConfig(gamma=0.7, loss=kind))(teacher, batch, labels, None, WHOLE)
    outputs = teacher.outputs(teacher.encode(batch), batch)
    losses = [loss(output, batch.token_mask, labels, 0.7, kind).item() for output in outputs]
    assert len(losses) == 4
    assert len(set(losses)) == 4
    assert value.item() == pytest.approx(sum(losses) / 4, rel=1e-6)
    # Not the loss of the average: each head learns to find words by itself.
    value.backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in teacher.heads.parameters())


def test_who_is_taught_has_labels_and_targets() -> None:
    network, _, batch, labels = parts()
    targets = torch.rand(*batch.token_mask.shape, 2)
    value = taught(TrainConfig(word_weight=3.0, gamma=50.0))(network, batch, labels, targets, WHOLE)
    assert value.item() == taught_loss(network(batch), batch.token_mask, labels, targets, 3.0).item()
