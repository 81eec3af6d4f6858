"""A finished run as one JSON file: every number, and what it takes to make or test it again, but no corpus sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.evaluation.cost import Cost
from zerotag.evaluation.metrics import f05
from zerotag.io.files import whole_file

FORMAT = 1


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """The training that a run's model came from; methods that share a model have the same one."""

    model: Mapping[str, Any]
    """Settings as resolved by the training: nothing is left to be chosen."""

    training: Mapping[str, Any]
    parameters: int
    """Number of trained parameters."""

    history: list[Mapping[str, float]]
    """Loss, and development loss and sentence F1, of each epoch."""

    best_epoch: int
    dev: Mapping[str, float | None]
    """Sentence measures of the kept model on the development set."""

    seconds: float
    sentences: int | None = None
    """Number of training sentences; records from before it was kept have none."""


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """What the randomisation tests need of each test sentence: its word counts and its average precision."""

    true_positives: list[int]
    false_positives: list[int]
    false_negatives: list[int]
    average_precisions: list[float]
    """Only of the sentences with a positive word, which are those with a true positive or a false negative."""


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """What is true of each test sentence and what was said of it: a `1` or `0` for each, in their order."""

    gold: str
    predicted: str


@dataclass(frozen=True, slots=True)
class ExampleRecord:
    """What the run says of one of the experiment's own example sentences."""

    words: list[str]
    sentence_scores: list[float]
    word_scores: list[list[float]]
    """By word and label."""


@dataclass(frozen=True, slots=True)
class Record:
    """All that is kept of a run."""

    corpus: str
    method: str
    seed: int
    uses_word_labels: bool
    settings: Mapping[str, Any]
    """What the experiment declared."""

    made: Mapping[str, Any]
    """Versions, device, how many runs shared it, and date, commit and code at the end and at the beginning."""

    training: TrainingRecord | None
    scorer: str
    """As it was created: of attention heads, which one."""

    test: Mapping[str, Any]
    """The evaluation's report: `macro` and, by label, `measures`, `counts` and `rule`."""

    faithfulness: Mapping[str, float]
    dev: Mapping[str, Any] | None
    """The same report on the development set, where the experiment asks for it: no method has read its word labels."""

    cost: Cost
    test_indices: list[int] | None
    """Which sentences of the test set were scored; None for all."""

    sentences: Mapping[str, SentenceRecord]
    """By label; empty for a method that does not score words."""

    verdicts: Mapping[str, VerdictRecord] = field(default_factory=dict)
    """By label; empty for a method that says nothing of sentences, and in records from before they were kept."""

    scores: Mapping[str, Mapping[str, Mapping[str, list[float]]]] = field(default_factory=dict)
    """Quantiles of word scores, by part (`test`, `dev`), label and kind of sentence: see `score_summary`."""

    examples: list[ExampleRecord] = field(default_factory=list)
    """For figures; only the first seed of a method has them."""

    def measures(self) -> dict[str, float]:
        """Every measured number by name; fractions, not percent."""
        rules = [label["rule"] for label in self.test["labels"].values()]
        found: dict[str, float | None] = {
            **self.test["macro"],
            **self._f05_of_earlier_records(),
            **self.faithfulness,
            **{f"dev_{name}": value for name, value in (self.dev or {"macro": {}})["macro"].items()},
            **self._by_label(),
            "word_threshold": rules[0]["word_threshold"] if len(rules) == 1 and self.sentences else None,
            **asdict(self.cost),
        }
        if self.training is not None:
            found |= {f"dev_{name}": value for name, value in self.training.dev.items()}
            found["training_seconds"] = self.training.seconds
            found["best_epoch"] = self.training.best_epoch
            found["epochs"] = len(self.training.history)
        return {name: float(value) for name, value in found.items() if value is not None}

    def _f05_of_earlier_records(self) -> dict[str, float]:
        """They have precision and recall, from which F0.5 follows for a single label."""
        words = [self.test["macro"].get(f"word_{name}") for name in ("precision", "recall")]
        if "word_f05" in self.test["macro"] or None in words or len(self.test["labels"]) > 1:
            return {}
        return {"word_f05": f05(*words)}

    def _by_label(self) -> dict[str, float | None]:
        """Of several labels, each: what `macro` is the mean of."""
        labels = self.test["labels"]
        return {
            f"{label}: {name}": value
            for label, its in (labels.items() if len(labels) > 1 else ())
            for name, value in {**its["measures"], "word_threshold": its["rule"]["word_threshold"]}.items()
        }


def write_record(path: Path, record: Record) -> None:
    """Write a run's file, whole or not at all: one line per part, so that it can be read and compared."""
    parts = {"format": FORMAT, **asdict(record)}
    write = json.JSONEncoder(separators=(",", ": "), allow_nan=False).encode
    with whole_file(path) as file:
        file.write("{\n" + ",\n".join(f"{write(name)}: {write(value)}" for name, value in parts.items()) + "\n}\n")


def read_record(path: Path) -> Record:
    """Read a run's file."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values.pop("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        training = values["training"]
        if (words := values.pop("dev_words", None)) is not None:  # as earlier records have it
            values["dev"] = {"macro": words}
        return Record(
            **values
            | {
                "dev": values.get("dev"),
                "training": None if training is None else TrainingRecord(**training),
                "verdicts": {label: VerdictRecord(**its) for label, its in values.get("verdicts", {}).items()},
                "cost": Cost(**values["cost"]),
                "examples": [ExampleRecord(**example) for example in values.get("examples", ())],
                "sentences": {label: SentenceRecord(**its) for label, its in values["sentences"].items()},
            }
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ZerotagError(f"{path}: not the file of a run ({error}); delete it to have the run repeated") from error
