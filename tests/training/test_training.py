"""Training: what is learnt and what is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import AdamW

import tiny
import toy
from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.evaluation.report import Measures, evaluate
from zerotag.labeller import WordLabeller
from zerotag.modeling.network import Network
from zerotag.presets import PLAIN
from zerotag.training.recipe import Progress, train
from zerotag.types import Corpus, Example, Sentence

Weights = dict[str, Tensor]


@pytest.fixture(autouse=True)
def _every_step_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerotag.training.loop.REPORT_SECONDS", 0.0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelConfig:
    return ModelConfig(encoder=str(tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))), depth=1)


QUICK = replace(PLAIN, epochs=2, batch_size=16, learning_rate=5e-3)


def weights(labeller: WordLabeller) -> Weights:
    return {name: tensor.clone() for name, tensor in labeller.network.state_dict().items()}


def same(a: Weights, b: Weights) -> bool:
    """All but the table of vectors, of which a training holds a part while it runs."""
    names = [name for name in a if "word_embeddings" not in name]
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in names)


def measured(labeller: WordLabeller) -> Measures:
    gold = toy.gold(60, labels=labeller.label_names, seed=1)
    scored = labeller.score(example.sentence for example in gold)
    return evaluate(zip(gold, scored, strict=True), labeller.label_names, labeller.rules).macro


# What is learnt


def test_the_cue_word_is_found_in_new_sentences_and_the_loss_falls(model: ModelConfig) -> None:
    seen: list[Progress] = []
    labeller = train(
        toy.corpus(120),
        model=model,
        training=replace(PLAIN, epochs=5, batch_size=8, learning_rate=5e-3),
        on_progress=seen.append,
    )
    measures = measured(labeller)
    assert (measures.map, measures.word_f1, measures.sentence_f1) == (1.0, 1.0, 1.0)
    losses = [progress.loss for progress in seen if progress.epochs_done == progress.epoch]
    assert len(losses) == 5
    assert losses[0] > losses[1] > losses[2]
    assert losses[-1] < losses[0] / 10


def test_three_labels_each_find_their_own_cues(model: ModelConfig) -> None:
    labels = tuple(toy.CUES)
    settings = replace(PLAIN, epochs=5, batch_size=8, learning_rate=1e-2)
    labeller = train(toy.corpus(200, labels=labels), model=model, training=settings)
    assert labeller.label_names == ("hedge", "fault", "wet")
    measures = measured(labeller)
    assert (measures.map, measures.word_f1, measures.sentence_f1) == (1.0, 1.0, 1.0)
    (result,) = labeller.label([["the", "pump", "perhaps", "leaks", "in", "winter"]])
    assert [word.labels for word in result.words] == [(), (), ("hedge",), ("fault",), (), ("wet",)]
    assert result.labels == labels


def test_a_plain_classifier_is_trained_too(model: ModelConfig) -> None:
    settings = replace(PLAIN, epochs=5, batch_size=8, learning_rate=5e-3)
    labeller = train(toy.corpus(120), model=ModelConfig(encoder=model.encoder, head="cls"), training=settings)
    assert labeller.manifest.scores["dev sentence F1"] == 1.0
    with pytest.raises(ZerotagError, match="does not score words"):
        labeller.label(["perhaps ."])


def test_a_document_of_five_thousand_words_is_trained_on(model: ModelConfig) -> None:
    words = [word for example in toy.gold(715, seed=2) for word in example.sentence.words][:5000]
    document = Example(Sentence.from_words(words), (True,))
    corpus = toy.corpus(20)
    labeller = train(
        Corpus(corpus.label_names, (*corpus.examples, document)),
        toy.corpus(10, seed=3),
        model=model,
        training=replace(PLAIN, epochs=1, batch_size=4),
    )
    assert all(torch.isfinite(tensor).all() for tensor in weights(labeller).values())


# The same again


def test_the_seed_decides_every_bit(model: ModelConfig) -> None:
    one = weights(train(toy.corpus(40), model=model, training=QUICK))
    assert same(one, weights(train(toy.corpus(40), model=model, training=QUICK)))
    other_seed = replace(PLAIN, epochs=2, batch_size=16, learning_rate=5e-3, seed=2)
    assert not same(one, weights(train(toy.corpus(40), model=model, training=other_seed)))


def test_what_else_is_drawn_at_random_is_left_alone(model: ModelConfig) -> None:
    torch.manual_seed(7)
    before = torch.get_rng_state()
    train(toy.corpus(20), model=model, training=QUICK)
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize("last_step", [1, 4, 5, 6])
def test_stopped_after_a_step_it_goes_on_to_the_same_end(model: ModelConfig, tmp_path: Path, last_step: int) -> None:
    def stop(progress: Progress) -> None:
        if progress.steps_done == last_step:
            raise KeyboardInterrupt

    undisturbed = weights(train(toy.corpus(40), model=model, training=QUICK))
    if last_step < 6:
        with pytest.raises(KeyboardInterrupt):
            train(toy.corpus(40), model=model, training=QUICK, checkpoints=tmp_path, on_progress=stop)
    else:  # finished, but not saved
        train(toy.corpus(40), model=model, training=QUICK, checkpoints=tmp_path)
    steps: list[int] = []
    labeller = train(
        toy.corpus(40),
        model=model,
        training=QUICK,
        checkpoints=tmp_path,
        on_progress=lambda progress: steps.append(progress.steps_done),
    )
    assert steps[:1] == [last_step + 1][: 6 - last_step]
    assert same(weights(labeller), undisturbed)


def test_with_another_encoder_in_its_place_it_does_not_go_on(tmp_path: Path) -> None:
    place = tiny.encoder_folder(tmp_path / "encoder")
    model = ModelConfig(encoder=str(place), depth=1)

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(toy.corpus(40), model=model, training=QUICK, checkpoints=tmp_path / "unfinished", on_progress=stop)
    weights = load_file(place / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][5, 0] += 1
    save_file(weights, place / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ZerotagError, match="holds an unfinished training with other settings or data"):
        train(toy.corpus(40), model=model, training=QUICK, checkpoints=tmp_path / "unfinished")


# Which epoch is kept, and when it stops


@dataclass
class Script:
    """Development scores by epoch instead of measured ones, and the weights of each epoch."""

    scores: Iterator[tuple[float, float]]
    epochs: list[Weights]


def scripted(monkeypatch: pytest.MonkeyPatch, *scores: tuple[float, float]) -> Script:
    script = Script(iter(scores), [])

    def on_dev(network: Network, *_: object) -> tuple[float, float]:
        script.epochs.append({name: tensor.clone() for name, tensor in network.state_dict().items()})
        return next(script.scores)

    monkeypatch.setattr("zerotag.training.loop.on_dev", on_dev)
    return script


def trained_for(
    epochs: int,
    model: ModelConfig,
    *,
    patience: int = 9,
    tolerance: float = 0.0,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> WordLabeller:
    settings = replace(PLAIN, epochs=epochs, patience=patience, tolerance=tolerance, batch_size=16, learning_rate=5e-3)
    dev = toy.with_labels(*[(True,)] * 16, *[(False,)] * 4, names=("hedge",))
    return train(toy.corpus(20), dev, model=model, training=settings, on_progress=on_progress)


@pytest.mark.parametrize(("tolerance", "best"), [(0.0, 3), (0.1, 4), (0.6, 5), (3.5, 6)])
def test_the_last_of_the_best_epochs_by_development_f1_is_kept(
    model: ModelConfig, monkeypatch: pytest.MonkeyPatch, tolerance: float, best: int
) -> None:
    """With 16 positive sentences, the standard error of an F1 of 0.8 is 0.1."""
    f1s = [0.5, 0.8, 0.8, 0.795, 0.75, 0.5]
    script = scripted(monkeypatch, *((f1, 0.5) for f1 in f1s))
    labeller = trained_for(6, model, tolerance=tolerance)
    assert labeller.manifest.scores == {"dev sentence F1": f1s[best - 1], "best epoch": best}
    assert [same(weights(labeller), epoch) for epoch in script.epochs].index(True) == best - 1


def test_it_stops_when_patience_is_used_up(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    script = scripted(monkeypatch, (0.5, 0.5), (0.6, 0.5), (0.59, 0.6), (0.55, 0.1), (0.9, 0.1))
    seen: list[Progress] = []
    labeller = trained_for(9, model, patience=2, on_progress=seen.append)
    assert labeller.manifest.scores["best epoch"] == 2
    assert len(script.epochs) == 4
    assert same(weights(labeller), script.epochs[1])
    last = seen[-1]
    assert (last.epochs_done, last.epochs, last.best_f1, last.seconds_left) == (4, 9, 0.6, 0.0)
    assert last.steps_done == last.steps == 18


def test_progress_step_by_step(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, (0.5, 0.5), (0.4, 0.5))
    seen: list[Progress] = []
    trained_for(2, model, on_progress=seen.append)
    assert [(p.epoch, p.epochs_done, p.steps_done, p.steps, p.best_f1) for p in seen] == [
        (1, 0, 1, 4, None),
        (1, 0, 2, 4, None),
        (1, 1, 2, 4, 0.5),
        (2, 1, 3, 4, 0.5),
        (2, 1, 4, 4, 0.5),
        (2, 2, 4, 4, 0.5),
    ]
    assert all(p.seconds_left is not None and p.seconds_left >= 0 for p in seen)


# The steps


def test_the_rate_of_every_step(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []
    step = AdamW.step

    def watched(self: AdamW, *arguments: Any) -> Any:
        assert len({group["lr"] for group in self.param_groups}) == 1
        rates.append(self.param_groups[0]["lr"])
        return step(self, *arguments)

    monkeypatch.setattr(AdamW, "step", watched)
    settings = replace(PLAIN, epochs=2, batch_size=4, learning_rate=0.01, warmup=0.4)
    train(toy.corpus(20), toy.corpus(10, seed=1), model=model, training=settings)
    # Ten steps, four of them warm-up: up in quarters, then down in sevenths.
    assert rates == pytest.approx([0.0025, 0.005, 0.0075, 0.01, *(0.01 * n / 7 for n in (6, 5, 4, 3, 2, 1))])


def test_gradients_are_clipped(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    norms: list[float] = []
    step = AdamW.step

    def watched(self: AdamW, *arguments: Any) -> Any:
        gradients = [p.grad for group in self.param_groups for p in group["params"] if p.grad is not None]
        norms.append(torch.stack([gradient.square().sum() for gradient in gradients]).sum().sqrt().item())
        return step(self, *arguments)

    monkeypatch.setattr(AdamW, "step", watched)
    monkeypatch.setattr("zerotag.training.objectives.loss", lambda output, *_: 1000 * output.sentence_logits.sum())
    train(toy.corpus(20), model=model, training=QUICK)
    assert norms == pytest.approx([1.0] * len(norms), rel=1e-4)


def test_a_diverged_training_says_so_and_leaves_nothing_to_go_on_with(
    model: ModelConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "unfinished"
    with monkeypatch.context() as broken:
        broken.setattr("zerotag.training.objectives.loss", lambda output, *_: output.sentence_logits.sum() * math.nan)
        with pytest.raises(
            ZerotagError,
            match=r"^the training diverged \(loss nan in epoch 1\): choose a learning rate below 0\.005$",
        ):
            train(toy.corpus(20), model=model, training=QUICK, checkpoints=folder)
    assert not folder.exists()
    lower = replace(PLAIN, epochs=1, batch_size=16, learning_rate=1e-3)
    train(toy.corpus(20), model=model, training=lower, checkpoints=folder)


def test_what_was_chosen_is_written_down(model: ModelConfig) -> None:
    labeller = train(toy.corpus(20), model=ModelConfig(encoder=model.encoder), training=replace(PLAIN, epochs=1))
    manifest = labeller.manifest
    assert manifest.model.depth == tiny.LAYERS // 2  # half of them, as no depth was given
    assert len(labeller.network.encoder.get_submodule("encoder.layer")) == tiny.LAYERS // 2  # type: ignore[arg-type]
    assert manifest.model.window == tiny.POSITIONS
    assert manifest.model.attention_size == tiny.WIDTH
    assert manifest.training.learning_rate == pytest.approx(0.0384 / tiny.WIDTH)
    assert manifest.training.batch_size == 16
    assert [rule.origin for rule in manifest.rules] == ["fixed"]


@pytest.mark.parametrize(
    ("count", "given", "batch_size", "epochs", "steps"),
    [
        (70, TrainConfig(), 32, (4, 3), 7 * 3),
        (39, TrainConfig(), 16, (3, 3), 6 * 3),
        (32, TrainConfig(), 16, (4, 4), 8 * 2),  # 3 epochs would be 6 steps, and 7 are wanted
        (16, TrainConfig(), 16, (5, 5), 10 * 1),  # 7 would be too many
        (16, TrainConfig(epochs=1), 16, (5, 1), 6 * 1),
        (40, TrainConfig(epochs=1, batch_size=8, teacher_epochs=2), 8, (2, 1), 3 * 5),
        (40, replace(PLAIN, epochs=1), 32, (0, 1), 2),
        (16, PLAIN, 16, (0, 5), 5),
    ],
)
def test_what_is_chosen_by_the_number_of_sentences(
    model: ModelConfig,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    given: TrainConfig,
    batch_size: int,
    epochs: tuple[int, int],
    steps: int,
) -> None:
    for name, value in {"MANY_SENTENCES": 40, "FEWEST_STEPS": 7, "MOST_EPOCHS": 5}.items():
        monkeypatch.setattr(f"zerotag.training.recipe.{name}", value)
    seen: list[Progress] = []
    labeller = train(toy.corpus(count), toy.corpus(10, seed=1), model=model, training=given, on_progress=seen.append)
    training = labeller.manifest.training
    assert (training.batch_size, training.teacher_epochs, training.epochs) == (batch_size, *epochs)
    assert seen[-1].steps == steps
