"""DataFrames of Spark, in local mode."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tiny
import zerotag
from zerotag.errors import ZerotagError
from zerotag.integrations.spark import labeller

TEXTS = ["the pump may fail in winter .", "", "a valve leaks", None]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("model") / "tiny"
    tiny.labeller().save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is installed by make test-all")
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "5")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_batches_get_what_the_labeller_says(model: str) -> None:
    frames = [pd.DataFrame({"id": [1, 2], "text": TEXTS[:2]}), pd.DataFrame({"id": [3, 4], "text": TEXTS[2:]})]
    found = list(labeller(model)(iter(frames)))
    for frame, expected in zip(found, frames, strict=True):
        pd.testing.assert_frame_equal(frame, zerotag.load(model).label(expected))


def test_there_is_no_such_model(tmp_path: Path) -> None:
    with pytest.raises(ZerotagError):
        labeller(str(tmp_path / "none"))


@pytest.mark.filterwarnings("ignore")  # those of Spark's own
@pytest.mark.timeout(1_800)  # on a machine that has much else to do
def test_in_a_frame(model: str, spark: Any) -> None:
    rows = [(number, TEXTS[number % 4]) for number in range(60)]
    frame = spark.createDataFrame(rows, "id long, text string").repartition(3)
    labels = labeller(model)
    found = frame.mapInPandas(labels, labels.schema(frame))
    assert [field.simpleString() for field in found.schema.fields] == [
        "id:bigint",
        "text:string",
        "zerotag_label:string",
        "zerotag_score:double",
        "zerotag_words:array<string>",
        "zerotag_spans:array<struct<text:string,start:int,end:int,label:string,score:double>>",
    ]
    got = {row["id"]: row for row in found.collect()}
    expected = zerotag.load(model).label(pd.DataFrame(rows, columns=["id", "text"]))
    assert len(got) == 60
    for _, row in expected.iterrows():
        one = got[row["id"]]
        if row["zerotag_words"] is None:
            assert one["zerotag_words"] is None
            continue
        assert one["zerotag_label"] == (None if pd.isna(row["zerotag_label"]) else row["zerotag_label"])
        assert one["zerotag_score"] == pytest.approx(row["zerotag_score"], abs=1e-5)
        places = [(span["text"], span["start"], span["end"], span["label"]) for span in one["zerotag_spans"]]
        assert places == [(span["text"], span["start"], span["end"], span["label"]) for span in row["zerotag_spans"]]
    with pytest.raises(ZerotagError, match="there is no column 'body'; there are id, text: give text="):
        labeller(model, text="body").schema(frame)
