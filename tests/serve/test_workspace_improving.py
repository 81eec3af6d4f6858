"""How an improved model is chosen and measured: on sentences that it has not learnt from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import tiny
import zerotag
from zerotag.errors import ZerotagError
from zerotag.io.model_folder import NETWORK, THRESHOLDS
from zerotag.labeller import Labeller, WordLabeller
from zerotag.serve.workspace.improving import FOLDS, changed_words, improve, measured, ways_of
from zerotag.types import CorrectedExample, Rule, Scored, Sentence

SCORES = {"it": 0.1, "may": 0.3, "rain": 0.6, "holds": 0.2}


class Stand:
    """Stands in for a labeller: each word has a score of its own."""

    label_names = ("hedge",)

    def __init__(self, threshold: float) -> None:
        self.rules = [Rule(word_threshold=threshold)]

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        for sentence in sentences:
            yield Scored(sentence, (0.9,), np.array([[SCORES[word]] for word in sentence.words]))


def stand(threshold: float) -> Labeller:
    return cast(Labeller, Stand(threshold))


def example(words: str, *positive: str) -> CorrectedExample:
    sentence = Sentence.from_words(words.split())
    return CorrectedExample(sentence, (bool(positive),), tuple((word in positive,) for word in sentence.words))


EXAMPLES = [example("it may rain", "may")] * 5 + [example("it holds")]


def test_measures_by_hand() -> None:
    assert measured(EXAMPLES, stand(0.5)) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    found = measured(EXAMPLES, stand(0.2))  # "may" and "rain" five times, "holds" once: 5 of 11 are right
    assert found == pytest.approx({"precision": 5 / 11, "recall": 1.0, "f1": 10 / 16})


def test_no_sentence_is_decided_by_what_learnt_from_it() -> None:
    seen: list[list[int]] = []

    def way(examples: Sequence[CorrectedExample]) -> Labeller:
        seen.append([id(one) for one in examples])
        return stand(0.5)

    examples = [example("it may rain", "may") for _ in range(13)]
    measured(examples, stand(0.5), way)
    assert len(seen) == FOLDS
    for fold, others in enumerate(seen):
        assert others == [id(one) for i, one in enumerate(examples) if i % FOLDS != fold]


def test_without_a_positive_word_a_fold_teaches_nothing() -> None:
    def way(_: Sequence[CorrectedExample]) -> Labeller:
        raise AssertionError

    assert measured([example("it holds")] * 5, stand(0.5), way) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


def test_words_that_change_are_counted() -> None:
    sentences = [one.sentence for one in EXAMPLES]
    assert changed_words(sentences, stand(0.5), stand(0.2)) == [
        {"word": "may", "label": "hedge", "marked": True, "count": 5},
        {"word": "holds", "label": "hedge", "marked": True, "count": 1},
    ]


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """What a job is given: a model, corrections and texts."""

    def make(pairs: list[tuple[list[str], list[bool]]]) -> dict[str, Any]:
        tiny.labeller().save_pretrained(tmp_path / "model")
        with (tmp_path / "corrections.jsonl").open("w") as file:
            for words, flags in pairs:
                labels = ["hedge" if flag else "O" for flag in flags]
                one = {"words": words, "label": "hedge" if any(flags) else "O", "word_labels": labels}
                file.write(json.dumps(one) + "\n")
        (tmp_path / "texts.jsonl").write_text("".join(json.dumps(" ".join(words)) + "\n" for words, _ in pairs))
        names = {"model": tmp_path / "model", "out": tmp_path / "better"}
        return {
            **{name: str(path) for name, path in names.items()},
            "corrections": "corrections.jsonl",
            "texts": "texts.jsonl",
        }

    return make


def test_the_better_way_is_taken_and_its_model_is_what_is_said_of_it(job: Any, tmp_path: Path) -> None:
    given = job(tiny.sentences(20))
    folds: list[tuple[int, int]] = []
    found = improve(given, tmp_path, lambda _: None, lambda *one: folds.append(one))
    assert folds == [(0, 2), (1, 2)]
    assert found["sentences"] == 20
    assert not found["seen_before"]
    assert set(found["after"]) == {THRESHOLDS, NETWORK}
    assert found["after"][found["way"]]["f1"] == max(one["f1"] for one in found["after"].values())
    better = zerotag.load(tmp_path / "better")
    assert dict(better.manifest.word_labels) == {found["way"]: 20}
    assert found["thresholds"]["hedge"][1] == better.rules[0].word_threshold


def test_a_network_that_learns_best_is_written(job: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = job(tiny.sentences(20))
    before = {
        name: one.clone() for name, one in WordLabeller.from_pretrained(given["model"]).network.state_dict().items()
    }
    monkeypatch.setattr("zerotag.serve.workspace.improving.ways_of", lambda one: {NETWORK: ways_of(one)[NETWORK]})
    assert improve(given, tmp_path, lambda _: None, lambda *_: None)["way"] == NETWORK
    better = zerotag.load(given["out"])
    assert isinstance(better, WordLabeller)
    after = better.network.state_dict()
    changed = {name for name, one in before.items() if not after[name].equal(one)}
    assert changed <= {"head.attention_score.weight"}  # of nothing else could be learnt
    assert dict(better.manifest.word_labels) == {NETWORK: 20}


def test_what_does_not_do_better_is_not_written(job: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = job(tiny.sentences(20))
    monkeypatch.setattr("zerotag.serve.workspace.improving.ways_of", lambda model: {THRESHOLDS: lambda _: model})
    found = improve(given, tmp_path, lambda _: None, lambda *_: None)
    assert found["way"] is None
    assert found["after"] == {THRESHOLDS: found["before"]}
    assert not Path(given["out"]).exists()


def test_corrections_without_a_positive_word_are_refused(job: Any, tmp_path: Path) -> None:
    given = job([(words, [False] * len(words)) for words, _ in tiny.sentences(6)])
    with pytest.raises(ZerotagError, match="no word is marked in what you looked at"):
        improve(given, tmp_path, lambda _: None, lambda *_: None)
    assert not Path(given["out"]).exists()
