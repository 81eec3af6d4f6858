"""Tables of other libraries, as training and labelling take them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zerotag.errors import ZerotagError
from zerotag.io.in_memory import as_training_data, texts_of
from zerotag.io.tables import as_table, as_values
from zerotag.text.segmentation import split
from zerotag.types import Corpus, Example, Sentence


def as_corpus(*data: Any, **arguments: Any) -> Corpus[Example]:
    return as_training_data(*data, **arguments, strict=True).corpus


TEXTS = ["It may rain.", "It rains."]
CLASSES = datasets.Features(
    {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["dry", "wet", "ice"])}
)

MAKERS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "datasets": datasets.Dataset.from_dict,
    "rows": lambda columns: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Callable[[dict[str, list[Any]]], Any]:
    return MAKERS[request.param]


def test_every_kind_of_table_is_the_same_corpus(make: Callable[..., Any]) -> None:
    corpus = as_corpus(make({"comment": TEXTS, "hedge": [1, 0], "other": [None, "x"]}), text="comment", label="hedge")
    assert corpus == as_corpus(TEXTS, [1, 0], label="hedge")
    several = make({"text": TEXTS, "a": [True, False], "b": [1, 1]})
    assert [one.labels for one in as_corpus(several, label=["a", "b"]).examples] == [(True, True), (False, True)]


def test_words_and_word_labels_are_columns_too(make: Callable[..., Any]) -> None:
    words = make({"words": [["It", "may"], ["It"]], "word_labels": [["O", "hedge"], ["O"]]})
    assert as_corpus(words) == as_corpus(
        [(Sentence.from_words(["It", "may"]), "hedge"), (Sentence.from_words(["It"]), "O")]
    )


def test_numbers_of_classes_have_names(make: Callable[..., Any]) -> None:
    table = make({"text": ["a", "b", "c"], "label": [0, 2, 1]})
    with pytest.raises(ZerotagError, match=r"row 1: the label '2' is a number .* with label_names="):
        as_corpus(table)
    corpus = as_corpus(table, class_names=["dry", "wet", "ice"])
    assert corpus.label_names == ("dry", "wet", "ice")  # in the order of the classes
    assert [one.labels.index(True) for one in corpus.examples] == [0, 2, 1]
    some = as_corpus(table, class_names=["dry", "wet", "ice"], negative="dry")
    assert (some.label_names, some.negative) == (("wet", "ice"), "dry")
    assert [one.labels for one in some.examples] == [(False, False), (False, True), (True, False)]
    with pytest.raises(
        ZerotagError, match=r"row 1: there is no class '2'; 2 classes are named, from 0 on: 'dry', 'wet'"
    ):
        as_corpus(table, class_names=["dry", "wet"])


def test_class_labels_of_datasets_are_known(tmp_path: Path) -> None:
    dataset = datasets.Dataset.from_dict({"text": ["a", "b"], "label": [2, 1]}, features=CLASSES)
    expected = as_corpus(["a", "b"], ["ice", "wet"])
    assert [sorted(as_corpus(dataset).label_names)] == [sorted(expected.label_names)]
    assert as_corpus(dataset).label_names == ("wet", "ice")
    dataset.to_parquet(tmp_path / "hub.parquet")
    assert as_corpus(pq.read_table(tmp_path / "hub.parquet")) == as_corpus(dataset)


@pytest.mark.parametrize(
    "column", [pd.Series, pl.Series, pa.array, np.array, lambda values: pa.chunked_array([values])]
)
def test_columns_by_themselves(column: Callable[[Any], Any]) -> None:
    assert as_corpus(column(TEXTS), column([1, 0])) == as_corpus(TEXTS, [1, 0])
    assert as_values(column(TEXTS)) == TEXTS


def test_empty_cells_are_none_however_they_are_written() -> None:
    frame = pd.DataFrame({"text": ["a", None, np.nan, pd.NA, pd.NaT, " \t", "\u200b"]}, dtype=object)
    table = as_table(frame)
    assert table is not None
    assert [one is None for one in texts_of(table, None, split)] == [False, *[True] * 6]
    of_words = as_table(pl.DataFrame({"w": [["a b", "c"], []]}))
    assert of_words is not None
    assert texts_of(of_words, "w", split) == [Sentence.from_words(["a b", "c"]), None]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pl.LazyFrame({"text": ["a"]}), r"a polars LazyFrame has no rows yet: give frame.collect\(\)"),
        (datasets.DatasetDict({"train": datasets.Dataset.from_dict({})}), r"give one, as in data\['train'\]"),
        (datasets.Dataset.from_dict({"text": ["a"]}).to_iterable_dataset(), "an IterableDataset has no length: give"),
        ({"text": ["a"]}, r"a dictionary with 'text' is no table: give pandas.DataFrame\(data\)"),
        (pd.DataFrame([["a", 1]]), r"the column 0 has no name; give columns names"),
    ],
)
def test_what_is_nearly_a_table_is_refused_with_the_cure(data: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        as_corpus(data)


def test_what_a_table_lacks_is_said_in_words_of_python() -> None:
    frame = pd.DataFrame({"comment": TEXTS, "toxic": [1, 0]})
    with pytest.raises(ZerotagError, match=r"^the table: no column 'text'; there are 'comment', 'toxic'; .* text=$"):
        as_corpus(frame)
    with pytest.raises(ZerotagError, match=r"^the table: no column 'label'; .* choose with label=$"):
        as_corpus(frame, text="comment")
    with pytest.raises(TypeError, match="a table has its own"):
        as_corpus(frame, [1, 0])
    with pytest.raises(ZerotagError, match="two columns of the table are called 'a'"):
        as_corpus(pd.DataFrame([["x", "y"]], columns=["a", "a"]))


def test_no_library_is_imported_that_nobody_uses() -> None:
    code = (
        "import sys; from zerotag.io.tables import as_table, as_values; as_table([1]); as_values(3);"
        "print([name for name in ('pandas', 'polars', 'datasets', 'numpy.ma', 'pyarrow') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
