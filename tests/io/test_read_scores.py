"""Scores of other tools: by word, by stretch of text, in the order of the sentences; anything else is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zerotag.errors import ZerotagError
from zerotag.io.scores import read_scores
from zerotag.types import Sentence

SENTENCES = [Sentence.from_words(["it", "may", "rain"]), Sentence.from_words(["a", "pump"])]


def write(folder: Path, *records: Any) -> Path:
    path = folder / "scores.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def words(path: Path, labels: tuple[str, ...] = ("hedge",)) -> list[Any]:
    return [one.word_scores.tolist() for one in read_scores(path, SENTENCES, labels).scored]


def test_numbers_one_for_each_word(tmp_path: Path) -> None:
    path = write(tmp_path, {"words": [0, 0.5, 0.25], "score": 0.75}, {"words": [0.125, -3], "score": 0})
    found = read_scores(path, SENTENCES, ["hedge"])
    assert [one.word_scores.tolist() for one in found.scored] == [[[0.0], [0.5], [0.25]], [[0.125], [-3.0]]]
    assert [one.sentence_scores for one in found.scored] == [(0.75,), (0.0,)]
    assert found.of_sentences


def test_without_scores_of_their_own_sentences_have_that_of_their_highest_word(tmp_path: Path) -> None:
    found = read_scores(write(tmp_path, [0, 0.5, 0.25], [0.125, 0]), SENTENCES, ["hedge"])
    assert [one.sentence_scores for one in found.scored] == [(0.5,), (0.125,)]
    assert not found.of_sentences


def test_any_units_by_their_place_in_the_text(tmp_path: Path) -> None:
    """Pieces of words, several words at once, in any order; a word has the highest of those that overlap it."""
    pieces = [
        {"start": 3, "end": 4, "score": 0.25, "entity": "hedge"},
        {"start": 4, "end": 6, "score": 0.75, "entity": "hedge"},
        {"start": 5, "end": 11, "score": 0.5, "entity_group": "hedge"},
        {"start": 0, "end": 2, "score": 0.99, "entity": "O"},
    ]
    assert words(write(tmp_path, pieces, [{"start": 2, "end": 6, "score": -0.5}])) == [
        [[0.0], [0.75], [0.5]],
        [[0.0], [-0.5]],
    ]


def test_several_labels(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"words": [[0, 1], [0.5, 0.25], [0, 0]], "scores": {"b": 0.5, "a": 0.25}},
        {
            "words": [
                {"start": 0, "end": 1, "label": "b", "score": 0.5},
                {"start": 2, "end": 6, "scores": {"a": 1, "b": 0}},
            ],
            "scores": {"a": 0, "b": 1},
        },
    )
    found = read_scores(path, SENTENCES, ["a", "b"])
    assert [one.word_scores.tolist() for one in found.scored] == [[[0, 1], [0.5, 0.25], [0, 0]], [[0, 0.5], [1, 0]]]
    assert [one.sentence_scores for one in found.scored] == [(0.25, 0.5), (0, 1)]


def test_word_by_word(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("it\t0\nmay\t0.5\nrain\t1e-1\n\na\t0\npump\t-2\n", encoding="utf-8")
    assert words(path) == [[[0.0], [0.5], [pytest.approx(0.1)]], [[0.0], [-2.0]]]
    path.write_text("it\t0\nmay\t0.5\nsnow\t0\n\na\t0\npump\t0\n", encoding="utf-8")
    with pytest.raises(ZerotagError, match=r"scores.tsv:1: the words are not those of sentence 1 with labels"):
        words(path)
    path.write_text("it\t0\nmay\n", encoding="utf-8")
    with pytest.raises(ZerotagError, match=r"scores.tsv:2: 0 columns after the word 'may'; write word, tab, a score"):
        words(path)


@pytest.mark.parametrize(
    ("records", "complaint"),
    [
        ([[0, 0, 0]], "fewer sentences than the 2 with labels"),
        ([[0, 0, 0], [0, 0], [0]], "more sentences than the 2 with labels"),
        ([[0, 0], [0, 0]], ":1: 2 scores for the 3 words of sentence 1"),
        ([[0, 0, "x"], [0, 0]], ":1: the score 'x' is not a finite number"),
        ([[0, 0, True], [0, 0]], ":1: the score True is not a finite number"),
        ([[0, 0, float("nan")], [0, 0]], ":1: the score nan is not a finite number"),
        ([{"words": [0, 0, 0], "score": 1}, [0, 0]], "some sentences have a score of their own and some none"),
        ([{"text": "it rains", "words": [0, 0, 0]}, [0, 0]], ":1: the text is 'it rains', and sentence 1 with labels"),
        ([{"score": 1}, [0, 0]], ':1: .* is not a JSON object with "words"'),
        ([[{"start": 0, "end": 2, "score": 1}, 0, 0], [0, 0]], ":1: some units have start and end and some not"),
        ([[{"start": 0, "end": 2.5, "score": 1}], [0, 0]], ":1: start 0 and end 2.5 are not both whole numbers"),
        ([[{"label": "x", "score": 1}, 0, 0], [0, 0]], ":1: unknown label 'x'; the labels are 'hedge'"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, records: list[Any], complaint: str) -> None:
    with pytest.raises(ZerotagError, match=complaint):
        words(write(tmp_path, *records))


def test_what_does_not_fit_several_labels(tmp_path: Path) -> None:
    with pytest.raises(ZerotagError, match=":1: one score, and there are the labels 'a', 'b'; give scores by label"):
        words(write(tmp_path, [0, 0, 0], [0, 0]), ("a", "b"))
    with pytest.raises(ZerotagError, match=":1: scores of 'a'; give one for each label: 'a', 'b'"):
        words(write(tmp_path, [{"scores": {"a": 1}}] * 3, [0, 0]), ("a", "b"))


def test_no_json(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ZerotagError, match=r"scores.jsonl:1: not valid JSON"):
        words(path)
