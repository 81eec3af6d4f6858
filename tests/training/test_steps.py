"""One step of a training, the same however it is taken."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.optim import AdamW
from transformers import AutoModel

import tiny
import toy
from lessons import CONFIG, LABELS, RATES, TRAINING, lessons, network_and_aligner, without_dropout
from zerotag.config import ChosenTrainConfig, ModelConfig
from zerotag.modeling.bf16_copy import Bf16Copy
from zerotag.modeling.losses import Share, taught_loss
from zerotag.modeling.network import Network, TensorBatch
from zerotag.text.alignment import Aligner
from zerotag.training.objectives import Objective, each_head, plain, taught
from zerotag.training.optimizers import optimizer
from zerotag.training.recipe import train
from zerotag.training.reproducible import reproducible
from zerotag.training.steps import Part, Steps
from zerotag.training.teacher import Teacher
from zerotag.types import Sentence

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


def take_all(network: Network, objective: Objective, aligner: Aligner) -> list[float]:
    """The losses of one step per lesson."""
    steps = Steps(network, objective, optimizer(network, TRAINING), clipped=True)
    taken = enumerate(zip(lessons(aligner, steps.length_step), RATES, strict=True))
    values = [steps.take([Part(*lesson)], rate=rate, seed=number) for number, (lesson, rate) in taken]
    return [value.item() for value in values]


def same_weights(a: nn.Module, b: nn.Module) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True))


# By hand


def test_steps_are_those_of_a_loop_written_by_hand() -> None:
    network, aligner = network_and_aligner()
    by_hand, untrained = copy.deepcopy(network), copy.deepcopy(network)
    losses = take_all(network, taught(TRAINING), aligner)

    matrices = [p for p in by_hand.parameters() if p.ndim > 1]
    rest = [p for p in by_hand.parameters() if p.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    adam = AdamW(groups, eps=1e-7, fused=True)
    by_hand.train()
    for number, ((batch, labels, targets), rate) in enumerate(zip(lessons(aligner), RATES, strict=True)):
        for group in adam.param_groups:
            group["lr"] = rate
        torch.manual_seed(number)
        tensors = TensorBatch.of(batch, torch.device("cpu"))
        value = taught_loss(by_hand(tensors), tensors.token_mask, labels, targets, 2.0)
        adam.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(by_hand.parameters(), 1.0)
        adam.step()
        assert losses[number] == value.item()
    assert same_weights(network, by_hand)
    assert not same_weights(network, untrained)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_steps_with_a_stand_in_are_those_of_its_network(family: str) -> None:
    network, aligner = network_and_aligner(family)
    without_dropout(network)
    pupil, untrained = copy.deepcopy(network), copy.deepcopy(network)
    losses = take_all(network, taught(TRAINING), aligner)

    made = Bf16Copy(pupil, torch.float32)  # which there is on a GPU only, in half precision
    steps = Steps(pupil, taught(TRAINING), optimizer(pupil, TRAINING), clipped=True, copy=made)
    for lesson, rate, loss in zip(lessons(aligner), RATES, losses, strict=True):
        assert steps.take([Part(*lesson)], rate=rate, seed=0).item() == pytest.approx(loss, rel=1e-3)
    for name, weight in network.state_dict().items():
        torch.testing.assert_close(pupil.state_dict()[name], weight, rtol=0, atol=2e-3, msg=name)
    assert not same_weights(pupil, untrained)


@pytest.mark.parametrize("clipped", [True, False])
def test_gradients_are_clipped_only_where_they_should_be(clipped: bool) -> None:
    network, aligner = network_and_aligner()

    def far_too_much(network: Network, batch: TensorBatch, labels: Tensor, *_: object) -> Tensor:
        logits: Tensor = network(batch).sentence_logits
        return 1000 * (logits - labels).square().sum()

    (batch, labels, _), *_ = lessons(aligner)
    Steps(network, far_too_much, optimizer(network, TRAINING), clipped=clipped).take(
        [Part(batch, labels, None)], rate=0.1, seed=0
    )
    gradients = [p.grad.square().sum() for p in network.parameters() if p.grad is not None]
    norm = torch.stack(gradients).sum().sqrt().item()
    assert norm == pytest.approx(1.0, rel=1e-4) if clipped else norm > 100


@pytest.mark.parametrize("objective", [plain, taught])
@pytest.mark.parametrize("loss", ["cross-entropy", "squared"])
@pytest.mark.parametrize("copied", [False, True])
def test_a_batch_in_parts_gives_what_it_gives_at_once(
    loss: str, copied: bool, objective: Callable[[ChosenTrainConfig], Objective]
) -> None:
    network, aligner = network_and_aligner("mpnet")
    without_dropout(network)
    words = [word for sentence, _ in tiny.sentences(40) for word in sentence]
    sentences = aligner.encode([Sentence.from_words(words[:n]) for n in (3, 9, 4)])
    labels = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    targets = [torch.rand(len(sentence), 2).numpy() for sentence in sentences]
    lengths = [int(aligner.batch([sentence]).token_mask.sum()) for sentence in sentences]

    def part(of: list[int]) -> Part:
        batch = aligner.batch([sentences[i] for i in of])
        share = Share(len(of) / 3, sum(lengths[i] for i in of) / sum(lengths))
        return Part(batch, labels[of], torch.from_numpy(aligner.spread(batch, [targets[i] for i in of])), share)

    at_once, in_parts = [part([0, 1, 2])], [part([0, 2]), part([1])]
    training = replace(TRAINING, loss=loss)
    losses, gradients = [], []
    for parts in (at_once, in_parts):
        pupil = copy.deepcopy(network)
        made = Bf16Copy(pupil, torch.float32) if copied else None
        steps = Steps(pupil, objective(training), optimizer(pupil, training), clipped=False, copy=made)
        losses.append(steps.take(parts, rate=0.0, seed=0).item())
        gradients.append([p.grad for p in pupil.parameters() if p.grad is not None])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert len(gradients[0]) > 20
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)


def test_dropout_follows_from_the_seed_of_a_step() -> None:
    network, aligner = network_and_aligner()
    lesson, *_ = lessons(aligner)
    losses = []
    for seed in (1, 2, 1):
        pupil = copy.deepcopy(network).eval()  # a step switches dropout on
        steps = Steps(pupil, taught(TRAINING), optimizer(pupil, TRAINING), clipped=True)
        torch.rand(1)  # whatever else is drawn in between
        losses.append(steps.take([Part(*lesson)], rate=0.1, seed=seed).item())
    assert losses[0] == losses[2] != losses[1]


def test_without_a_gpu_batches_are_padded_no_further_than_they_need() -> None:
    network, _ = network_and_aligner()
    assert Steps(network, plain(TRAINING), optimizer(network, TRAINING), clipped=True).length_step == 1


# On a GPU, where steps are replayed from graphs


class Replays:
    """Counts the steps that were replayed, and can have every step computed instead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._monkeypatch = monkeypatch
        replay = torch.cuda.CUDAGraph.replay

        def counted(graph: torch.cuda.CUDAGraph) -> None:
            self.count += 1
            replay(graph)

        monkeypatch.setattr(torch.cuda.CUDAGraph, "replay", counted)

    def refuse(self) -> None:
        """As for an encoder that no graph can hold."""
        self.count = 0

        def refused(*_: object, **__: object) -> None:
            raise RuntimeError("it copies from the host")

        self._monkeypatch.setattr(torch.cuda, "graph", refused)


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> Replays:
    return Replays(monkeypatch)


def trained_on_gpu(kind: str, family: str) -> tuple[Network, list[float]]:
    gpu = torch.device("cuda")
    with reproducible(1, gpu):
        network, aligner = network_and_aligner(family)
        if kind == "each head":
            shape = tiny.shape(family, len(tiny.tokenizer(family)))
            teacher = Teacher(AutoModel.from_config(shape), len(LABELS), CONFIG).to(gpu)
            return teacher, take_all(teacher, each_head(TRAINING), aligner)
        network.to(gpu)
        return network, take_all(network, {"plain": plain, "taught": taught}[kind](TRAINING), aligner)


@needs_gpu
@pytest.mark.filterwarnings("ignore")  # of kernels which are not deterministic in general
@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("kind", ["plain", "each head", "taught"])
def test_replayed_steps_are_computed_ones_bit_for_bit(kind: str, family: str, replays: Replays) -> None:
    replayed, its_losses = trained_on_gpu(kind, family)
    if family == "bert":
        assert replays.count == len(RATES) - 2  # the first of each shape is computed
    replays.refuse()
    computed, other_losses = trained_on_gpu(kind, family)
    assert replays.count == 0
    assert its_losses == other_losses
    assert same_weights(replayed, computed)


@needs_gpu
@pytest.mark.filterwarnings("ignore")
def test_a_replayed_training_is_a_computed_one_bit_for_bit(tmp_path: Path, replays: Replays) -> None:
    model = ModelConfig(encoder=str(tiny.encoder_folder(tmp_path / "encoder")))
    training = ChosenTrainConfig(teacher_epochs=2, epochs=2, batch_size=8, learning_rate=5e-3)
    gpu = torch.device("cuda")
    replayed = train(toy.corpus(100), model=model, training=training, device=gpu)
    assert replays.count > 20
    replays.refuse()
    computed = train(toy.corpus(100), model=model, training=training, device=gpu)
    assert replays.count == 0
    assert same_weights(replayed.network, computed.network)
    assert replayed.rules == computed.rules
