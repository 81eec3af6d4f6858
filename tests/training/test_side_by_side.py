"""Teachers that learn side by side: what they say, what is shown of them, and what becomes of the rest if one fails."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import tiny
import toy
from zerotag.config import ChosenTrainConfig, ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.parallel.ray_pool import Cluster, DeathError
from zerotag.training.checkpoints import Checkpoints
from zerotag.training.loop import Progress
from zerotag.training.recipe import train
from zerotag.training.side_by_side import Together, give_up

TRAINING = TrainConfig(epochs=1, teacher_epochs=2, teachers=2, batch_size=16, learning_rate=5e-3, seed=3)


def reached(teacher: int, own_steps: int, seconds_left: float) -> Progress:
    """Of 10 steps per epoch; as the recipe has it, a teacher counts the epochs of the teachers before it."""
    return Progress(
        epoch=1,
        epochs=5,
        epochs_done=0,
        steps_done=20 * teacher + own_steps,
        steps=50,
        loss=0.5,
        best_f1=None,
        seconds_left=seconds_left,
        of_teacher=True,
    )


def test_the_progress_of_two_teachers_and_the_student_to_come() -> None:
    shown: list[Progress] = []
    together = Together(ChosenTrainConfig(epochs=1, teacher_epochs=2, teachers=2), shown.append)
    together.hear(1, reached(1, own_steps=5, seconds_left=25.0))  # a second for each of 25 steps
    together.hear(0, reached(0, own_steps=10, seconds_left=40.0))
    together.hear(1, reached(1, own_steps=20, seconds_left=10.0))
    together.show()
    assert [one.steps_done for one in shown] == [5, 15, 30, 30]
    assert [(one.epoch, one.epochs_done, one.epochs, one.steps) for one in shown[:3]] == [
        (1, 0, 5, 50),
        (2, 1, 5, 50),
        (4, 3, 5, 50),
    ]
    # 35 steps of teachers for one that was heard, 25 for two, 10 for one that is left; then 10 of the student.
    assert [one.seconds_left for one in shown[:3]] == [45.0, 22.5, 20.0]


@pytest.mark.parametrize(
    ("error", "says", "kept"),
    [
        (DeathError("its worker died: of old age"), "teacher 2 is given up: its worker died: of old age", True),
        (ZerotagError("the disk is full"), "the disk is full", True),
        (ZerotagError("the training diverged"), "the training diverged", False),
    ],
)
def test_a_teacher_that_cannot_be_had(tmp_path: Path, error: Exception, says: str, kept: bool) -> None:
    """If it diverged, and left nothing, nobody will go on with the others: their settings are of no use."""
    folder = tmp_path / "unfinished"
    for teacher in ("teacher-1", "teacher-2")[: 2 if kept else 1]:
        (folder / teacher).mkdir(parents=True)
    with pytest.raises(ZerotagError, match=says):
        give_up(Checkpoints(folder, "fingerprint"), 1, error)
    assert folder.exists() == kept


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is installed by make test-all")
@pytest.mark.filterwarnings("ignore")  # those of Ray's own
@pytest.mark.timeout(1_800)  # on a machine that has much else to do
def test_the_same_as_one_after_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setattr("zerotag.training.loop.REPORT_SECONDS", 0.0)
    model = ModelConfig(encoder=str(tiny.encoder_folder(tmp_path / "encoder")), depth=2)
    corpus, dev = toy.corpus(60), toy.corpus(30, seed=1)
    shown: list[Progress] = []
    found: list[dict[str, Any]] = []
    for number, cluster in enumerate((None, Cluster(workers=2))):
        labeller = train(
            corpus,
            dev,
            model=model,
            training=replace(TRAINING),
            checkpoints=tmp_path / f"checkpoints-{number}",
            device="cpu",
            on_progress=shown.append,
            cluster=cluster,
        )
        found.append({name: weight.clone() for name, weight in labeller.network.state_dict().items()})
    torch.set_num_threads(before)
    assert all(torch.equal(weight, found[1][name]) for name, weight in found[0].items())
    assert any(not one.of_teacher for one in shown)
    assert {path.name for path in (tmp_path / "checkpoints-1").glob("teacher-*")} == {"teacher-1", "teacher-2"}
