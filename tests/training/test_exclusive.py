"""Labels that exclude one another: who says so, and what becomes of decisions and measures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tiny
import toy
import zerotag as library
from commands import CommandLine
from zerotag.bulk.state import State
from zerotag.config import TrainConfig
from zerotag.decisions import decide, decide_sentence, decide_words
from zerotag.errors import ZerotagError
from zerotag.evaluation.report import Classes, evaluate
from zerotag.evaluation.tables import class_table
from zerotag.io.writers.jsonl import encode, record, render_scored
from zerotag.io.writers.style import Style
from zerotag.training.exclusive import are_exclusive, exclusive_rules
from zerotag.types import GoldExample, Rule, Scored, Sentence

LABELS = ("calm", "rude", "sad")
RULES = (Rule(0.5, 0.5, exclusive=True), Rule(0.2, 0.5, exclusive=True), Rule(0.5, 0.9, exclusive=True))
BOTH = toy.with_labels((True, False), (False, True), names=("a", "b"))


def scored(words: list[list[float]], sentence: tuple[float, ...]) -> Scored:
    return Scored(Sentence.from_words(f"w{i}" for i in range(len(words))), sentence, np.array(words, np.float32))


def test_the_strongest_of_those_that_are_reached() -> None:
    assert decide_sentence((0.6, 0.7, 0.8), RULES) == [False, True, False]  # 0.8 does not reach 0.9
    assert decide_sentence((0.4, 0.3, 0.8), RULES) == [False, False, False]
    words = decide_words(np.array([[0.6, 0.3, 0.1], [0.4, 0.3, 0.1], [0.9, 0.8, 0.95], [0, 0, 0]], np.float32), RULES)
    assert words.tolist() == [[True, False, False], [False, True, False], [False, False, True], [False] * 3]


def test_every_writer_and_count_decides_alike() -> None:
    some = [scored([[0.6, 0.3, 0.1], [0.9, 0.8, 0.95]], (0.6, 0.7, 0.8)), scored([[0.1, 0.1, 0.1]], (0.1, 0.1, 0.95))]
    results = [decide(one, LABELS, RULES) for one in some]
    assert [one.labels for one in results] == [("rude",), ("sad",)]
    assert [word.labels for word in results[0].words] == [("calm",), ("sad",)]
    style = Style(label_names=LABELS, rules=RULES, title="")
    assert [*render_scored(some, style)] == [encode(record(one, LABELS)) + "\n" for one in results]
    state = State()
    state.count(some, LABELS, RULES)
    assert state.positive_sentences == {"calm": 0, "rude": 1, "sad": 1}
    assert state.positive_words == {"calm": 1, "rude": 0, "sad": 1}


def test_who_excludes_whom() -> None:
    assert are_exclusive(BOTH, "auto")
    assert not are_exclusive(BOTH, False)
    assert not are_exclusive(toy.with_labels((True, False), (False, False), names=("a", "b")), "auto")
    assert are_exclusive(toy.with_labels((True, False), (False, False), names=("a", "b")), True)
    assert not are_exclusive(toy.with_labels((True,), (True,)), "auto")
    with pytest.raises(ZerotagError, match="there is one label, 'a', which excludes no other"):
        are_exclusive(toy.with_labels((True,), (False,)), True)
    with pytest.raises(ZerotagError, match="1 of 2 training sentences have several labels"):
        are_exclusive(toy.with_labels((True, True), (False, True), names=("a", "b")), True)


def test_a_sentence_always_has_a_class_if_every_training_sentence_has() -> None:
    assert [one.sentence_threshold for one in exclusive_rules([Rule()] * 2, BOTH)] == [0.0, 0.0]
    some = toy.with_labels((True, False), (False, False), names=("a", "b"))
    assert exclusive_rules([Rule()] * 2, some) == (Rule(exclusive=True),) * 2


def test_accuracy_and_confusion_by_hand() -> None:
    gold = [(True, False), (True, False), (False, True), (False, False)]
    scores = [(0.9, 0.8), (0.6, 0.7), (0.1, 0.2), (0.4, 0.1)]
    rules = [Rule(exclusive=True)] * 2
    pairs = [
        (GoldExample(Sentence.from_words(["w0"]), labels, None), scored([[0.0, 0.0]], given))
        for labels, given in zip(gold, scores, strict=True)
    ]
    report = evaluate(pairs, ["a", "b"], rules)
    assert report.classes == Classes(("a", "b", None), ((1, 1, 0), (0, 0, 1), (0, 0, 1)))
    assert report.accuracy == 0.5
    assert report.to_json()["classes"] == {
        "names": ("a", "b", None),
        "confusion": ((1, 1, 0), (0, 0, 1), (0, 0, 1)),
        "accuracy": 0.5,
    }
    table = class_table(report.classes)
    assert table.header == ("class", "a", "b", "(none)")
    assert table.rows[0] == ("a", "1", "1", "0")
    assert table.note == "accuracy 50.0: 2 of 4 sentences"
    assert evaluate(pairs[:3], ["a", "b"], [Rule(sentence_threshold=0.0, exclusive=True)] * 2).classes == Classes(
        ("a", "b"), ((1, 1), (0, 1))
    )
    assert evaluate(pairs, ["a", "b"], [Rule()] * 2).classes is None


def test_from_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    zerotag = CommandLine(capsys)
    encoder = tiny.encoder_folder(tmp_path / "encoder")
    rows = [f"{one.sentence.text},{'hedged' if one.labels[0] else 'certain'}\n" for one in toy.gold(60)]
    (tmp_path / "train.csv").write_text("text,label\n" + "".join(rows))
    command = ("train", tmp_path / "train.csv", "--encoder", encoder, "--depth", 1, "--epochs", 1)
    outcome = zerotag(*command, "--out", tmp_path / "auto")
    assert "all are learnt, as classes of which a sentence has one; --independent learns them apart" in outcome.err
    zerotag.succeeds(*command, "--independent", "--out", tmp_path / "apart")
    auto, apart = library.load(tmp_path / "auto"), library.load(tmp_path / "apart")
    assert [rule.exclusive for rule in (*auto.rules, *apart.rules)] == [True, True, False, False]
    assert all(len(one.labels) == 1 for one in auto.label([one.sentence for one in toy.gold(20)]))
    printed = zerotag.succeeds("evaluate", tmp_path / "auto", tmp_path / "train.csv", "--json", tmp_path / "a.json")
    measured = json.loads((tmp_path / "a.json").read_text())["classes"]
    assert f"accuracy {100 * measured['accuracy']:.1f}: " in printed
    assert sum(map(sum, measured["confusion"])) == 60
    assert "one label, 'hedged'" in zerotag.fails(
        *command, "--negative", "certain", "--exclusive", "--out", tmp_path / "one"
    )


def test_from_python(tmp_path: Path) -> None:
    encoder = tiny.encoder_folder(tmp_path / "encoder")
    texts = [one.sentence for one in toy.gold(30)]
    labels = ["hedged" if one.labels[0] else "certain" for one in toy.gold(30)]
    quick = TrainConfig(epochs=1, teacher_epochs=0, teachers=1)
    for asked, found in (("auto", True), (True, True), (False, False)):
        labeller = library.train(texts, labels, exclusive=asked, encoder=encoder, training=quick)  # type: ignore[arg-type]
        assert [rule.exclusive for rule in labeller.rules] == [found, found]
