"""What each training was told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hand_made import experiment, record, run_of
from zerotag.research.compare.record import Record, write_record
from zerotag.research.compare.results import load_results, run_path
from zerotag.research.compare.settings_table import settings_table


def settings_of(folder: Path, **told: object) -> dict[str, str]:
    """The column of a training of soft attention that was told these things as well."""
    hand = experiment(folder)
    run = run_of(hand, "fce", "Soft attention", 1)
    made: Record = record(hand, run, word_f1=0.5)
    assert made.training is not None
    model = {**made.training.model, **{name: value for name, value in told.items() if name == "head"}}
    training = {**made.training.training, **told}
    write_record(run_path(folder, run), replace(made, training=replace(made.training, model=model, training=training)))
    table = settings_table(load_results(hand, folder))
    column = table.columns.index("sa")
    return {row.name: row.cells[column].text for row in table.rows}


def test_settings_that_count_are_shown(tmp_path: Path) -> None:
    found = settings_of(tmp_path)
    assert (found["beta"], found["word labels"], found["training sentences"], found["parameters"]) == (
        "1",
        "no",
        "all",
        "10",
    )
    assert "seed" not in found


@pytest.mark.parametrize(
    ("told", "unused", "used"),
    [
        ({"optimizer": "adadelta"}, ("warmup", "weight decay", "adam epsilon"), "beta"),
        ({"head": "cls"}, ("beta", "attention size", "hidden size", "gamma"), "warmup"),
        ({"teacher_epochs": 0}, ("teachers", "word weight"), "gamma"),
    ],
)
def test_settings_without_a_use_are_not(
    tmp_path: Path, told: dict[str, object], unused: tuple[str, ...], used: str
) -> None:
    found = settings_of(tmp_path, **told)
    assert not {*unused} & {*found}  # nor is any other training told
    assert found[used] != "–"
