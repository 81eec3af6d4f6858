"""One course of training after another: stopped at any moment, they end the same; progress counts them all."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import tiny
import toy
from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.labeller import WordLabeller
from zerotag.training.recipe import Progress, train
from zerotag.training.steps import Part, Steps

QUICK = TrainConfig(teacher_epochs=2, epochs=2, batch_size=16, learning_rate=5e-3)
STEPS = 12  # three in each epoch of 40 sentences, of which a tenth is for development


@pytest.fixture(autouse=True)
def _every_step_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerotag.training.loop.REPORT_SECONDS", 0.0)


@pytest.fixture
def _every_step_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerotag.training.loop.CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr("zerotag.training.loop.SAVINGS_APART", 0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelConfig:
    return ModelConfig(encoder=str(tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))), depth=2)


def same(a: WordLabeller, b: WordLabeller) -> bool:
    """Bit for bit, and the same decisions."""
    first, second = a.network.state_dict(), b.network.state_dict()
    assert first.keys() == second.keys()
    return all(torch.equal(first[name], second[name]) for name in first) and a.rules == b.rules


# The same again


@pytest.fixture(scope="module")
def undisturbed(model: ModelConfig) -> WordLabeller:
    return train(toy.corpus(40), model=model, training=QUICK)


def test_the_seed_decides_every_bit(model: ModelConfig, undisturbed: WordLabeller) -> None:
    torch.manual_seed(7)
    assert same(train(toy.corpus(40), model=model, training=QUICK), undisturbed)
    assert not same(train(toy.corpus(40), model=model, training=replace(QUICK, seed=2)), undisturbed)


def test_every_step_draws_its_own_dropout(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    take = Steps.take

    def watched(steps: Steps, *lesson: Any, rate: float, seed: int) -> Tensor:
        seeds.append(seed)
        return take(steps, *lesson, rate=rate, seed=seed)

    monkeypatch.setattr(Steps, "take", watched)
    train(toy.corpus(40), model=model, training=QUICK)
    assert seeds == [*range(1_000_003, 1_000_009)] * 2  # the teacher's steps, and the network's


@pytest.mark.parametrize("teachers", [1, 2])
def test_stopped_after_every_single_step_it_ends_the_same(model: ModelConfig, tmp_path: Path, teachers: int) -> None:
    """Each time, after one more step."""
    training = replace(QUICK, teachers=teachers)
    undisturbed = train(toy.corpus(40), model=model, training=training)
    steps: list[int] = []

    def stop(progress: Progress) -> None:
        steps.append(progress.steps_done)
        raise KeyboardInterrupt

    labeller = None
    starts = []
    while labeller is None:
        steps.clear()
        with suppress(KeyboardInterrupt):
            labeller = train(toy.corpus(40), model=model, training=training, checkpoints=tmp_path, on_progress=stop)
        starts += steps[:1]
    assert same(labeller, undisturbed)
    assert {*starts} == {*range(1, STEPS // 2 * (teachers + 1) + 1)}, "it goes on from each"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.filterwarnings("ignore")  # of kernels which are not deterministic in general
@pytest.mark.usefixtures("_every_step_is_kept")
def test_stopped_on_a_gpu_it_ends_the_same(model: ModelConfig, tmp_path: Path) -> None:
    """Where weights are kept twice, and learnt from in half precision."""

    def stop(progress: Progress) -> None:
        if progress.steps_done == 4:
            raise KeyboardInterrupt

    gpu = torch.device("cuda")
    undisturbed = train(toy.corpus(40), model=model, training=QUICK, device=gpu)
    with pytest.raises(KeyboardInterrupt):
        train(toy.corpus(40), model=model, training=QUICK, device=gpu, checkpoints=tmp_path, on_progress=stop)
    assert same(train(toy.corpus(40), model=model, training=QUICK, device=gpu, checkpoints=tmp_path), undisturbed)


@pytest.mark.usefixtures("_every_step_is_kept")
@pytest.mark.parametrize("moment", ["token_targets", "rule_from_sentence_labels"])
def test_stopped_between_its_parts_it_goes_on_with_the_next(
    model: ModelConfig, tmp_path: Path, undisturbed: WordLabeller, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopping:
        stopping.setattr(f"zerotag.training.recipe.{moment}", stop)
        with pytest.raises(KeyboardInterrupt):
            train(toy.corpus(40), model=model, training=QUICK, checkpoints=tmp_path)
    steps: list[int] = []
    labeller = train(
        toy.corpus(40),
        model=model,
        training=QUICK,
        checkpoints=tmp_path,
        on_progress=lambda progress: steps.append(progress.steps_done),
    )
    assert steps[:1] == ([STEPS // 2 + 1] if moment == "token_targets" else [])
    assert same(labeller, undisturbed)


def test_a_teacher_that_diverges_leaves_nothing_to_go_on_with(
    model: ModelConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "unfinished"
    with monkeypatch.context() as broken:
        broken.setattr(
            "zerotag.training.objectives.loss", lambda output, *_: output.sentence_logits.sum() * float("nan")
        )
        with pytest.raises(ZerotagError, match=r"^the training diverged \(loss nan in epoch 1\)"):
            train(toy.corpus(20), model=model, training=QUICK, checkpoints=folder)
    assert list(tmp_path.iterdir()) == []
    train(toy.corpus(20), model=model, training=replace(QUICK, learning_rate=1e-3), checkpoints=folder)
    assert (folder / "teacher-1").is_dir()


# Progress


def test_progress_counts_the_epochs_of_both(model: ModelConfig) -> None:
    seen: list[Progress] = []
    train(toy.corpus(40), model=model, training=QUICK, on_progress=seen.append)
    expected = []
    for epoch in range(1, 5):
        expected += [(epoch, epoch - 1, 3 * (epoch - 1) + step) for step in (1, 2, 3)]
        expected.append((epoch, epoch, 3 * epoch))
    assert [(p.epoch, p.epochs_done, p.steps_done) for p in seen] == expected
    assert {(p.epochs, p.steps) for p in seen} == {(4, STEPS)}
    left = [p.seconds_left for p in seen]
    assert all(seconds is not None and seconds > 0 for seconds in left[:-2])
    assert left[-2:] == [0.0, 0.0]


def test_a_teacher_that_stops_early_takes_its_steps_off_what_is_left(
    model: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets no better in two epochs; so does the network after it, which ends the training."""
    f1s = iter([0.5, 0.4, 0.3, 0.9, 0.8, 0.7])
    monkeypatch.setattr("zerotag.training.loop.on_dev", lambda *_: (next(f1s), 0.5))
    settings = replace(QUICK, teacher_epochs=5, epochs=4, patience=2, tolerance=0.0)
    seen: list[Progress] = []
    labeller = train(toy.corpus(40), model=model, training=settings, on_progress=seen.append)
    ends = [(p.epoch, p.steps_done, p.best_f1) for p in seen if p.epoch == p.epochs_done]
    assert ends == [(1, 3, 0.5), (2, 6, 0.5), (3, 15, 0.5), (6, 18, 0.9), (7, 21, 0.9), (8, 27, 0.9)]
    assert {(p.epochs, p.steps) for p in seen} == {(9, 27)}
    assert all(p.seconds_left is not None and p.seconds_left >= 0 for p in seen)
    assert seen[-1].seconds_left == 0.0
    assert labeller.manifest.scores["best epoch"] == 1


def test_the_time_left_is_what_the_rest_takes_at_this_pace(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seconds a step: after step n of the twelve, 2 × (12 - n) are left, whoever is being trained."""
    now = 0.0
    take = Steps.take

    def timed(steps: Steps, parts: list[Part], **settings: Any) -> Tensor:
        nonlocal now
        now += 2.0
        return take(steps, parts, **settings)

    monkeypatch.setattr(Steps, "take", timed)
    monkeypatch.setattr("zerotag.training.loop.time.monotonic", lambda: now)
    seen: list[Progress] = []
    train(toy.corpus(40), model=model, training=QUICK, on_progress=seen.append)
    assert [p.seconds_left for p in seen] == [2.0 * (STEPS - p.steps_done) for p in seen]


# Long sentences


def test_a_batch_over_the_budget_is_learnt_from_in_parts(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[list[Part]] = []
    take = Steps.take

    def watch(steps: Steps, parts: list[Part], **settings: Any) -> Tensor:
        taken.append(parts)
        return take(steps, parts, **settings)

    monkeypatch.setattr(Steps, "take", watch)
    monkeypatch.setattr(Steps, "token_budget", 60)
    train(toy.corpus(40), model=model, training=QUICK)
    assert len(taken) == STEPS
    assert max(map(len, taken)) > 1
    for parts in taken:
        assert sum(part.share.sentences for part in parts) == pytest.approx(1)
        assert sum(part.share.tokens for part in parts) == pytest.approx(1)
        assert any(part.share.tokens != part.share.sentences for part in parts) or len(parts) == 1
        assert all(part.batch.input_ids.size <= 60 for part in parts)
        assert sum(len(part.labels) for part in parts) in (16, 4)  # of 36 sentences
