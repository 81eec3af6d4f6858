"""The upper line: word labels get into a training by one door, and everything that comes out of it says so."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import toy
import zerotag
from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.evaluation.report import evaluate
from zerotag.research.compare.comparison import compare
from zerotag.research.compare.corpora import Splits
from zerotag.research.compare.experiment import Training
from zerotag.research.compare.record import read_record
from zerotag.research.compare.supervised import ORIGIN, train_on_word_labels
from zerotag.research.compare.trainings import obtain
from zerotag.text.alignment import Encoded, on_tokens
from zerotag.training import recipe
from zerotag.training.recipe import Progress
from zerotag.types import Corpus, GoldExample

SOURCE = Path(zerotag.__file__).parent
ENCODER = Path(__file__).parents[3] / "experiments" / "smoke-encoder"
SUPERVISED = """
[trainings.supervised]
word_labels = true

[[methods]]
name = "Supervised"
training = "supervised"
"""


def nothing(_: Progress) -> None:
    pass


@pytest.fixture
def training() -> Training:
    model = ModelConfig(encoder=str(ENCODER), depth=1, window=32)
    settings = TrainConfig(epochs=6, teacher_epochs=0, calibrated=False, batch_size=8, learning_rate=5e-3)
    return Training("supervised", model, settings, None, True)


def splits(*, labelled: bool = True) -> Splits:
    """Half of the sentences have a cue; where words are labelled wrongly, the last word is the positive one."""
    parts = [Corpus(("hedge",), toy.gold(count, seed=seed)) for seed, count in enumerate((60, 20, 20))]
    if not labelled:
        parts[0] = replace(parts[0], examples=tuple(map(last_word_positive, parts[0].examples)))
    return Splits.of(*parts)


def last_word_positive(example: GoldExample) -> GoldExample:
    words = len(example.sentence.words)
    return replace(example, word_labels=tuple((i == words - 1 and example.labels[0],) for i in range(words)))


def test_targets_of_tokens_by_hand() -> None:
    """Token 0 is of word 0, token 1 of words 0 and 1, token 2 of no word, token 3 of word 1."""
    sentence = Encoded(np.array([5, 6, 7, 8]), np.array([0, 1, 1, 3]), np.array([0, 0, 1, 1]), 3)
    words = np.array([[0, 1], [1, 0], [1, 1]], np.float32)
    assert on_tokens(sentence, words).tolist() == [[0, 1], [1, 1], [0, 0], [1, 0]]


def test_it_learns_what_the_word_labels_say(training: Training, tmp_path: Path) -> None:
    for labelled, positive in ((True, "cue"), (False, "last")):
        its = splits(labelled=labelled)
        labeller = obtain(training, its, 1, tmp_path / positive, nothing).labeller
        test = its.test.examples if labelled else tuple(map(last_word_positive, its.test.examples))
        scored = labeller.score(example.sentence for example in test)
        report = evaluate(zip(test, scored, strict=True), ("hedge",), labeller.rules)
        assert (report.macro.map or 0) > 0.9


def test_only_a_declared_training_is_let_in(training: Training, tmp_path: Path) -> None:
    its = splits()
    with pytest.raises(ValueError, match="training 'supervised' is not declared to learn from word labels"):
        train_on_word_labels(
            replace(training, word_labels=False), its.train_with_word_labels, its.dev, 1, tmp_path, nothing
        )


def test_there_is_one_door() -> None:
    """Outside research on word labels nobody calls the function that takes word targets, or touches those labels."""
    users = {
        name: {file.relative_to(SOURCE).as_posix() for file in SOURCE.rglob("*.py") if name in file.read_text()}
        for name in ("train_towards", "train_on_word_labels", "train_with_word_labels")
    }
    assert users == {
        "train_towards": {"training/recipe.py", "research/compare/supervised.py", "research/few_words/cells.py"},
        "train_on_word_labels": {"research/compare/supervised.py", "research/compare/trainings.py"},
        "train_with_word_labels": {
            "research/compare/corpora.py",
            "research/compare/trainings.py",
            "research/few_words/cells.py",
            "research/few_words/draws.py",
            "research/few_words/plan.py",
        },
    }
    assert "train_towards" not in recipe.__all__
    assert not hasattr(zerotag, "train_towards")


def test_such_a_model_is_not_saved_and_says_what_it_is(training: Training, tmp_path: Path) -> None:
    first = obtain(training, splits(), 1, tmp_path / "work", nothing)
    assert not list(tmp_path.rglob("zerotag.json"))
    assert [rule.origin for rule in first.labeller.manifest.rules] == [ORIGIN]

    def refuse(_: Progress) -> None:
        raise AssertionError("it is trained again")

    again = obtain(training, splits(), 1, tmp_path / "work", refuse)
    assert again.record.history == first.record.history
    for name, tensor in first.labeller.network.state_dict().items():
        assert torch.equal(tensor, again.labeller.network.state_dict()[name])


def test_it_does_not_go_on_with_other_word_labels(training: Training, tmp_path: Path) -> None:
    obtain(training, splits(), 1, tmp_path / "work", nothing)
    with pytest.raises(ZerotagError, match="holds an unfinished training with other settings or data"):
        obtain(training, splits(labelled=False), 1, tmp_path / "work", nothing)


def test_no_other_method_sees_the_word_labels_of_the_training_set(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other word labels in the training set, the same sentence labels: nothing changes but the upper line."""
    asked = []

    def spy(training: Training, *arguments: Any) -> Any:
        asked.append(training.name)
        return train_on_word_labels(training, *arguments)

    monkeypatch.setattr("zerotag.research.compare.trainings.train_on_word_labels", spy)
    small.write_text(small.read_text() + SUPERVISED)
    given = compare(small)
    assert (given.failed, asked) == ({}, ["supervised"])
    train = small.parent / "smoke-corpus" / "train.tsv"
    train.write_text(swapped(train.read_text()))
    changed = compare(small, out=small.parent / "changed")
    differ = {
        run.method.name for run in given.done if measured(given.folder, run.name) != measured(changed.folder, run.name)
    }
    assert differ == {"Supervised"}
    assert len(given.done) == 6
    assert not list((given.folder / "work").iterdir())


def swapped(text: str) -> str:
    """Positive words become negative and the others positive, in sentences with a positive one."""
    turned = {"C": "O", "O": "C"}
    sentences = []
    for sentence in text.strip().split("\n\n"):
        pairs = [line.split("\t") for line in sentence.splitlines()]
        positive = any(label == "C" for _, label in pairs)
        sentences.append("\n".join(f"{word}\t{turned[label] if positive else label}" for word, label in pairs))
    return "\n\n".join(sentences) + "\n"


def measured(folder: Path, name: str) -> Any:
    record = read_record(folder / "runs" / f"{name}.json")
    return record.test, record.sentences, record.training and record.training.history
