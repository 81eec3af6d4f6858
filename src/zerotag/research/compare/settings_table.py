"""The table of what each training of an experiment was told."""

from __future__ import annotations

from collections.abc import Mapping

from zerotag.research.compare.cells import NOTHING, setting
from zerotag.research.compare.layout import Cell, Row, Table
from zerotag.research.compare.published import PAPER_SETTINGS
from zerotag.research.compare.results import Results

_NOT_SETTINGS = ("seed", "dev_share")


def settings_table(results: Results) -> Table:
    """What every training was told, and what the paper says."""
    experiment = results.experiment
    found: dict[str, dict[str, set[str]]] = {}  # setting → training → values
    names = list(experiment.trainings)
    for run, record in results.records.items():
        if record.training is not None and run.method.training is not None:
            declared = experiment.trainings[run.method.training]
            told = {
                "training sentences": declared.sentences or "all",
                "word_labels": declared.word_labels,
                **record.training.model,
                **record.training.training,
                "parameters": record.training.parameters,
            }
            unused = _unused(told)
            for name, value in told.items():
                by_training = found.setdefault(name, {})
                if name not in unused:
                    by_training.setdefault(run.method.training, set()).add(setting(value))
    rows = [
        Row(
            name.replace("_", " "),
            tuple(
                Cell(text)
                for text in (
                    PAPER_SETTINGS.get(name, NOTHING),
                    *(" / ".join(sorted(by_training.get(one, {NOTHING}))) for one in names),
                )
            ),
        )
        for name, by_training in found.items()
        if by_training and name not in _NOT_SETTINGS
    ]
    note = (
        f"More than one value: they differ by corpus. {NOTHING}: no use for it, or not said. "
        "Parameters are those that were trained."
    )
    return Table("Settings of the trainings", ("",), ("paper", *names), tuple(rows), note)


def _unused(told: Mapping[str, object]) -> set[str]:
    """Settings that a training with such others has no use for."""
    unused: set[str] = set()
    if told.get("optimizer") == "adadelta":
        unused |= {"warmup", "warmup_unit", "weight_decay", "adam_epsilon"}
    if told.get("head") == "cls":
        unused |= {"beta", "attention_size", "hidden_size", "gamma"}
    if not told.get("teacher_epochs"):
        unused |= {"teachers"} if told.get("word_labels") else {"teachers", "word_weight"}
    return unused
