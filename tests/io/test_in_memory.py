from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zerotag.errors import ZerotagError
from zerotag.io import read
from zerotag.io.in_memory import as_training_data
from zerotag.types import Corpus, Example, Sentence


def as_corpus(*data: Any, **arguments: Any) -> Corpus[Example]:
    return as_training_data(*data, **arguments, strict=True).corpus


TEXTS = ["It may rain.", "It rains.", "Perhaps."]


def flags(corpus: Corpus[Example]) -> list[tuple[bool, ...]]:
    return [one.labels for one in corpus.examples]


@pytest.mark.parametrize(
    "labels",
    [
        [True, False, True],
        [1, 0, 1],
        ["yes", "no", "yes"],
        ["hedge", "O", "hedge"],
        [["hedge"], [], ["hedge"]],
        np.array([1, 0, 1]),
        (value for value in (True, False, True)),
    ],
)
def test_texts_and_labels_of_any_kind(labels: Any) -> None:
    corpus = as_corpus(TEXTS, labels, label="hedge")
    assert corpus.label_names == ("hedge",)
    assert flags(corpus) == [(True,), (False,), (True,)]
    assert [one.sentence.text for one in corpus.examples] == TEXTS
    assert corpus.examples[2].sentence.words == ("Perhaps", ".")


def test_pairs() -> None:
    corpus = as_corpus([("It may rain.", "hedge"), ("It rains.", ["hedge", "wet"]), (Sentence.from_words("a"), 0)])
    assert corpus.label_names == ("hedge", "wet")
    assert flags(corpus) == [(True, False), (True, True), (False, False)]


def test_a_file_and_a_corpus(tmp_path: Path) -> None:
    path = tmp_path / "sentences.csv"
    path.write_text("comment,hedge\nIt may rain.,1\nIt rains.,0\n")
    corpus = as_corpus(path, text="comment", label="hedge")
    assert corpus.label_names == ("hedge",)
    assert flags(corpus) == [(True,), (False,)]
    assert as_corpus(str(path), text="comment", label=["hedge"]) == corpus
    assert as_corpus(corpus) is corpus
    path.write_text("text,label\nIt may rain.,hedge\n")
    assert as_corpus(path) == read(path)


def test_labels_of_a_development_set_are_those_of_training() -> None:
    assert as_corpus(["It rains."], [False], label_names=("hedge",)).label_names == ("hedge",)
    with pytest.raises(ZerotagError, match=r"^label 0: unknown label 'wet'"):
        as_corpus(["It rains."], ["wet"], label_names=("hedge",))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((b"ab",), "data is of the type bytes"),
        ((3,), "data is of the type int; give a file's path"),
        ((["a text"],), r"data\[0\] is 'a text', not a \(text, label\) pair; give"),
        (([3], [1]), "text 0 is of the type int, not a string"),
        (("file.csv", [1]), "labels goes with a list of texts"),
    ],
)
def test_other_kinds_are_refused_with_the_cure(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}"):
        as_corpus(*arguments)


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (["a"], [1, 0], "there are 1 texts and 2 labels; each text needs one label"),
        ([" "], [1], "text 0 has no words"),
        (["a"], [7], "label 0: the label '7' is a number other than 0 and 1"),
        (["a"], [None], "label 0: no label; give one"),
    ],
)
def test_what_is_of_no_use_is_refused(texts: list[str], labels: list[Any], message: str) -> None:
    with pytest.raises(ZerotagError, match=f"^{message}"):
        as_corpus(texts, labels)
