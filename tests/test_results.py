"""What `label` gives back for lists and tables."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tiny
from zerotag.errors import ZerotagError
from zerotag.labeller import WordLabeller
from zerotag.results import Results
from zerotag.types import Rule

TEXTS = ["the pump may leak", "", None, "it rains \U0001f600 may"]


@pytest.fixture(scope="module")
def labeller() -> WordLabeller:
    return tiny.labeller()


@pytest.fixture(scope="module")
def expected(labeller: WordLabeller) -> list[dict[str, Any]]:
    """What each kind of table must say, from the results of the texts by themselves."""
    rows: list[dict[str, Any]] = []
    for text in TEXTS:
        if not text:
            rows.append(dict.fromkeys(("zerotag_label", "zerotag_score", "zerotag_words", "zerotag_spans")))
            continue
        one = labeller.label(text)
        spans = [
            {"text": s.text, "start": s.start, "end": s.end, "label": s.label, "score": round(s.score, 6)}
            for s in one.spans
        ]
        marked = [word.text for word in one.words if word.label]
        rows.append(
            dict(zip(rows[0] if rows else _NAMES, (one.label, round(one.score, 6), marked, spans), strict=True))
        )
    assert any(row["zerotag_spans"] for row in rows)
    return rows


_NAMES = ("zerotag_label", "zerotag_score", "zerotag_words", "zerotag_spans")


def test_a_pandas_table_keeps_its_columns_and_index(labeller: WordLabeller, expected: list[dict[str, Any]]) -> None:
    frame = pd.DataFrame({"id": [5, 6, 7, 8], "text": TEXTS}, index=["a", "a", "b", "c"])
    found = labeller.label(frame)
    assert isinstance(found, pd.DataFrame)
    pd.testing.assert_frame_equal(found[["id", "text"]], frame)
    assert [*found.columns] == ["id", "text", *_NAMES]
    rows = found[[*_NAMES]].astype(object).where(found[[*_NAMES]].notna(), None).to_dict("records")
    assert rows == expected


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pa.RecordBatch.from_pydict, datasets.Dataset.from_dict])
def test_other_tables_come_back_as_they_are(make: Any, labeller: WordLabeller, expected: list[dict[str, Any]]) -> None:
    table = make({"id": [5, 6, 7, 8], "comment": TEXTS})
    found = labeller.label(table, text="comment")
    assert type(found) is type(table)
    rows = (
        found.to_dicts() if isinstance(found, pl.DataFrame) else found.to_list() if hasattr(found, "to_list") else None
    )
    rows = found.to_pylist() if rows is None else rows
    assert rows == [{"id": 5 + i, "comment": TEXTS[i], **row} for i, row in enumerate(expected)]


def test_a_list_of_rows(labeller: WordLabeller, expected: list[dict[str, Any]]) -> None:
    rows = [{"text": text} for text in TEXTS]
    assert labeller.label(rows) == [{**row, **new} for row, new in zip(rows, expected, strict=True)]
    assert rows[0] == {"text": TEXTS[0]}  # ours to read, not to change


def test_an_empty_table(labeller: WordLabeller) -> None:
    frame = labeller.label(pd.DataFrame({"text": []}))
    assert [*frame.columns] == ["text", *_NAMES]
    assert len(frame) == 0


def test_several_labels_have_a_score_each() -> None:
    labeller = tiny.labeller(labels=("wet", "hedge")).with_rules([Rule(0.0, 0.0)] * 2)
    found = labeller.label(pl.DataFrame({"text": ["the pump"]})).to_dicts()[0]
    one = labeller.label("the pump")
    assert found["zerotag_label"] == "wet|hedge"
    assert found["zerotag_score"] == max(found["zerotag_score_wet"], found["zerotag_score_hedge"])
    assert found["zerotag_score_wet"] == pytest.approx(one.scores["wet"], abs=1e-6)
    assert found["zerotag_words"] == ["the", "pump"]
    assert {span["label"] for span in found["zerotag_spans"]} == {"wet", "hedge"}


def test_columns_of_the_same_name_are_refused(labeller: WordLabeller) -> None:
    with pytest.raises(ZerotagError, match="there is a column 'zerotag_score' already; rename it or leave it out"):
        labeller.label(pd.DataFrame({"text": ["a"], "zerotag_score": [1]}))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (3, "texts is of the type int; give a string, a list of strings, or a table"),
        (None, "texts is of the type NoneType"),
        (b"ab", "texts is of the type bytes"),
        (Path("a.csv"), "texts is of the type .*Path; .* a file is read first, as by pandas.read_csv"),
        ([None], "None is no text"),
        ([3.5], "3.5 is no text"),
        ([["a", None]], r"\['a', None\] is no text"),
        (pd.DataFrame({"text": [3]}), "row 0: 'text' is 3, not a text; choose another column with text="),
    ],
)
def test_other_kinds_are_refused_with_the_cure(labeller: WordLabeller, texts: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        labeller.label(texts)
    with pytest.raises(TypeError, match="text names a column of a table"):
        labeller.label(["a"], text="text")


def test_columns_give_a_list_that_becomes_a_table(labeller: WordLabeller) -> None:
    texts = ["the pump may leak", "it rains"]
    found = labeller.label(pd.Series(texts))
    assert isinstance(found, Results)
    assert found == labeller.label(np.array(texts)) == labeller.label(texts)
    frame = found.to_frame()
    assert [*frame.columns] == ["text", "label", "score", "words", "spans"]
    assert frame["score"].tolist() == [round(one.score, 6) for one in found]
    words = found.to_frame("word")
    assert words["word"].tolist() == ["the", "pump", "may", "leak", "it", "rains"]
    assert words["number"].tolist() == [0, 0, 0, 0, 1, 1]
    assert words["score"].tolist() == [word.score for one in found for word in one.words]
    with pytest.raises(ZerotagError, match="by is 'page'"):
        found.to_frame("page")  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [("hedge",), ("wet", "hedge")])
def test_results_are_made_when_somebody_looks(labels: tuple[str, ...]) -> None:
    labeller = tiny.labeller(labels=labels)
    labeller = labeller.with_rules(
        [Rule(float(np.median(labeller.label("the pump may leak").words[0].score)))] * len(labels)
    )
    texts = [
        "the pump may leak",
        " ",
        "",
        "it rains \U0001f600 may",
        *["our engine runs at night"] * 1_100,
        "\x07",
        "may",
    ]
    found = labeller.label(texts)
    expected = [labeller.label(text) for text in texts]
    assert [one.text for one in found] == texts
    for ours, alone in zip(found, expected, strict=True):
        assert ours.scores == pytest.approx(alone.scores, abs=1e-5)
        assert [replace(word, scores={}, labels=()) for word in ours.words] == [
            replace(word, scores={}, labels=()) for word in alone.words
        ]
    assert any(one.spans for one in found)
    assert any(word.label is None for one in found for word in one.words)
    for number in (0, 1, 2, 3, 500, -1):
        assert found[number] == [*found][number]
    assert found[3:] == found[3:][:] == [*found][3:]
    assert found[::-3] == [*found][::-3]
    assert pickle.loads(pickle.dumps(found[:4])) == found[:4]
    assert found != found[1:]
    assert (found == 3) is False
    assert repr(found[:1]) == f"Results([{found[0]!r}])"
    with pytest.raises(IndexError):
        found[len(texts)]


DOCUMENTS = ["the pump may leak. It may rain.", None, "ok\nfine"]
PARTS = [(0, "the pump may leak."), (0, "It may rain."), (1, None), (2, "ok"), (2, "fine")]


def test_documents_give_the_results_of_their_sentences(labeller: WordLabeller) -> None:
    (first, second) = labeller.label([DOCUMENTS[0], DOCUMENTS[2]], split_sentences=True)
    assert [(one.start, one.text) for one in first] == [(0, "the pump may leak."), (19, "It may rain.")]
    assert [(one.start, one.text) for one in second] == [(0, "ok"), (3, "fine")]
    assert [one.text for one in labeller.label(DOCUMENTS[0], split_sentences=True)] == [one.text for one in first]
    assert [one.spans for one in first] == [labeller.label(one.text).spans for one in first]
    frame = first.to_frame()
    assert [*frame.columns][:3] == ["sentence", "start", "end"]
    assert frame["start"].tolist() == [0, 19]
    assert labeller.label("", split_sentences=True) == []


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, datasets.Dataset.from_dict, list])
def test_a_table_of_documents_has_a_row_for_each_sentence(labeller: WordLabeller, kind: Any) -> None:
    columns = {"id": [7, 8, 9], "text": DOCUMENTS}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    found = labeller.label(rows if kind is list else kind(columns), split_sentences=True)
    if kind is pd.DataFrame:
        assert found.index.tolist() == [0, 0, 1, 2, 2]
        found = found.astype(object).where(found.notna(), None).to_dict("records")
    elif kind is pl.DataFrame:
        found = found.to_dicts()
    elif kind is pa.table:
        found = found.to_pylist()
    assert [(row["id"] - 7, row["zerotag_sentence"]) for row in found] == PARTS
    for row in found:
        if row["zerotag_sentence"] is not None:
            assert row["text"][int(row["zerotag_start"]) : int(row["zerotag_end"])] == row["zerotag_sentence"]
