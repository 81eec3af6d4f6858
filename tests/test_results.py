"""What `label` gives back for lists and tables."""

from __future__ import annotations

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
        (3, "texts is a int; give a string, a list of strings, or a table"),
        (None, "texts is a NoneType"),
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
