"""Loggers hear of a training while it runs: TensorBoard itself, and doubles that record what the others are told."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tiny
import toy
import zerotag
from commands import CommandLine
from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.training.loggers import logger, logging_to, values
from zerotag.training.loop import Progress

SETTINGS = TrainConfig(teacher_epochs=1, epochs=2, batch_size=8)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))


class Recorder:
    """A logger of one's own."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self.points: list[tuple[int, dict[str, float]]] = []
        self.closed = False

    def start(self, settings: Mapping[str, Any]) -> None:
        self.settings = dict(settings)

    def log(self, values: Mapping[str, float], step: int) -> None:
        assert not self.closed
        self.points.append((step, dict(values)))

    def close(self) -> None:
        self.closed = True


def train(encoder: Path, log_to: Any) -> None:
    model = ModelConfig(encoder=str(encoder), depth=2)
    zerotag.train(toy.corpus(40), model=model, training=SETTINGS, progress=False, log_to=log_to)


def test_a_logger_of_ones_own(encoder: Path) -> None:
    own = Recorder()
    train(encoder, own)
    assert own.closed
    assert own.settings["epochs"] == 2
    assert own.settings["depth"] == 2
    steps = [step for step, _ in own.points]
    assert steps == sorted(steps)
    names = {name for _, point in own.points for name in point}
    assert names == {"loss", "dev_f1", "epoch", "teacher/loss", "teacher/dev_f1"}
    assert own.points[-1][1]["epoch"] == 3  # with the teacher's


def test_tensorboard_has_the_curves(encoder: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    own = Recorder()
    train(encoder, [f"tensorboard:{tmp_path / 'runs'}", own])
    events = EventAccumulator(str(tmp_path / "runs"))
    events.Reload()
    curve = [(event.step, event.value) for event in events.Scalars("loss")]
    expected = [(step, point["loss"]) for step, point in own.points if "loss" in point]
    assert [step for step, _ in curve] == [step for step, _ in expected]
    assert [value for _, value in curve] == pytest.approx([value for _, value in expected])
    assert events.Tags()["tensors"] == ["settings/text_summary"]


def test_what_mlflow_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    double = SimpleNamespace(
        set_experiment=lambda name: heard.append(("experiment", name)),
        start_run=lambda: heard.append("run"),
        log_params=lambda settings: heard.append(settings),
        log_metrics=lambda found, step: heard.append((found, step)),
        end_run=lambda: heard.append("end"),
    )
    monkeypatch.setitem(sys.modules, "mlflow", double)
    with logging_to("mlflow:hedges", {"epochs": 2}, lambda _: None) as tell:
        tell(reached())
    assert heard == [("experiment", "hedges"), "run", {"epochs": 2}, ({"loss": 0.5, "epoch": 1.0}, 7), "end"]


def test_what_weights_and_biases_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    run = SimpleNamespace(
        config=SimpleNamespace(update=lambda settings: heard.append(settings)),
        log=lambda found, step: heard.append((found, step)),
        finish=lambda: heard.append("finish"),
    )

    def init(*, project: str) -> SimpleNamespace:
        heard.append(project)
        return run

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), logging_to("wandb", {"epochs": 2}, stop) as tell:
        tell(reached())
    assert heard == ["zerotag", {"epochs": 2}, ({"loss": 0.5, "epoch": 1.0}, 7), "finish"]


def reached(**more: Any) -> Progress:
    known: dict[str, Any] = {"epoch": 1, "epochs": 2, "epochs_done": 0, "steps_done": 7, "steps": 9, "loss": 0.5}
    return Progress(**known, best_f1=more.pop("best_f1", None), seconds_left=None, **more)


def test_numbers_of_a_teacher_are_named_so() -> None:
    assert values(reached(best_f1=0.25, of_teacher=True)) == {"teacher/loss": 0.5, "epoch": 1.0, "teacher/dev_f1": 0.25}


def test_what_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZerotagError, match="unknown logger 'tensorbored'; there are: tensorboard, mlflow, wandb"):
        logger("tensorbored")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ZerotagError, match=r"this logger needs mlflow: pip install 'zerotag\[mlflow\]'"):
        logger("mlflow")


def test_what_cannot_be_started_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**_: str) -> None:
        raise RuntimeError("no server\tat 127.0.0.1\nand many lines more")

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    with pytest.raises(ZerotagError) as caught:
        logger("wandb")
    assert str(caught.value) == "wandb cannot be started: no server\u2409at 127.0.0.1"


def test_the_command_line(encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tensorboard")
    source = toy.write_tsv(tmp_path / "train.tsv", toy.gold(40))
    arguments = (
        "train",
        source,
        "--encoder",
        encoder,
        "--epochs",
        1,
        "--teacher-epochs",
        0,
        "--out",
        tmp_path / "model",
    )
    CommandLine(capsys).succeeds(*arguments, "--log-to", f"tensorboard:{tmp_path / 'runs'}")
    assert [*(tmp_path / "runs").glob("events.*")]
    line = CommandLine(capsys).fails(*arguments, "--overwrite", "--log-to", "nothing")
    assert line.startswith("unknown logger 'nothing'")
