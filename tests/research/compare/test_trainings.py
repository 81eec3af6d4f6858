from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from zerotag.parallel.stopping import Stopped
from zerotag.research.compare import trainings
from zerotag.research.compare.corpora import Splits, read_splits
from zerotag.research.compare.experiment import Training
from zerotag.research.compare.experiment_file import read_experiment
from zerotag.research.compare.trainings import Clock, training_folder
from zerotag.training.recipe import Progress

ENCODER = Path(__file__).parents[3] / "experiments" / "smoke-encoder"


def obtain(
    training: Training, splits: Splits, seed: int, folder: Path, on_progress: Callable[[Progress], None]
) -> trainings.Trained:
    """As a workbench does that has found the encoder."""
    located = replace(training.model, encoder=str(ENCODER))
    return trainings.obtain(training, splits, seed, folder, on_progress, located)


@pytest.fixture
def splits(small: Path) -> Splits:
    return read_splits(read_experiment(small), "smoke-corpus", None)


@pytest.fixture
def training(small: Path) -> Training:
    return read_experiment(small).trainings["sa"]


def nothing(_: Progress) -> None:
    pass


def test_what_is_recorded(splits: Splits, training: Training, tmp_path: Path) -> None:
    record = obtain(training, splits, 3, tmp_path / "work", nothing).record
    assert (record.model["depth"], record.training["seed"]) == (1, 3)
    assert record.model["encoder"] == "smoke-encoder"  # not where it happened to be
    assert [set(epoch) for epoch in record.history] == [{"loss", "dev_f1", "dev_loss"}] * 2
    assert record.history[record.best_epoch - 1]["dev_f1"] == max(epoch["dev_f1"] for epoch in record.history)
    assert record.dev["sentence_f1"] == pytest.approx(record.history[record.best_epoch - 1]["dev_f1"])
    assert record.seconds > 0
    assert record.parameters > 1000


def test_a_finished_training_is_read_again(splits: Splits, training: Training, tmp_path: Path) -> None:
    first = obtain(training, splits, 1, tmp_path / "work", nothing)

    def refuse(_: Progress) -> None:
        raise AssertionError("it is trained again")

    second = obtain(training, splits, 1, tmp_path / "work", refuse)
    assert asdict(second.record) == asdict(first.record)
    assert not (tmp_path / "work" / "checkpoints").exists()
    for name, tensor in first.labeller.network.state_dict().items():
        assert torch.equal(tensor, second.labeller.network.state_dict()[name])


def test_a_stopped_training_goes_on_where_it_was(
    splits: Splits, training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zerotag.training.loop.REPORT_SECONDS", 0.0)  # after each step
    undisturbed = obtain(training, splits, 1, tmp_path / "undisturbed", nothing)
    steps: list[int] = []

    def stop(progress: Progress) -> None:
        steps.append(progress.steps_done)
        if progress.epochs_done == 1 and progress.steps_done > steps[0] * 3:
            raise Stopped

    with pytest.raises(Stopped):
        obtain(training, splits, 1, tmp_path / "work", stop)
    resumed_at: list[int] = []
    resumed = obtain(training, splits, 1, tmp_path / "work", lambda progress: resumed_at.append(progress.steps_done))
    assert resumed_at[0] > steps[0]  # not from the start
    assert resumed.record.history == undisturbed.record.history
    for name, tensor in undisturbed.labeller.network.state_dict().items():
        assert torch.equal(tensor, resumed.labeller.network.state_dict()[name])


def test_other_settings_have_another_folder(training: Training, small: Path, tmp_path: Path) -> None:
    changed = small.read_text().replace("epochs = 2", "epochs = 3")
    small.write_text(changed)
    other = read_experiment(small).trainings["sa"]
    folders = {
        training_folder(tmp_path, "own", sha256, one, seed)
        for sha256 in (None, "ab", "cd")
        for one in (training, other, replace(training, vectors_sha256="ef"))
        for seed in (1, 2)
    }
    assert len(folders) == 18


def test_the_clock_counts_what_was_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 50.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    clock = Clock(tmp_path / "seconds")
    now = 53.0
    clock.tick()
    assert not (tmp_path / "seconds").exists()  # not each time
    now = 60.0
    clock.tick()
    now = 61.0
    assert clock.seconds == 11.0
    now = 1000.0
    assert Clock(tmp_path / "seconds").seconds == 10.0
