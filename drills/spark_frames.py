"""Python workers of Spark are killed in the midst of their partitions; what comes out is what one process labels.

`python -m drills.spark_frames 1000000 50` labels a million rows with a tiny network, in 50 partitions of Spark's local
mode, each of whose workers is killed once. Scores may differ in the last digit, as batches hold other rows.
"""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

import zerotag
from drills.drill import Attempt, Drill, Problem
from zerotag.integrations.spark import labeller

_ROWS = 50_000  # of a drill
_KILLS = 50
_BATCH = 400  # rows that a worker gets at a time: each has two batches, in one of which it is killed
_CHUNK = 20_000  # rows that are compared at a time
_SAME = ("zerotag_label", "zerotag_words")
_NEAR = 2e-5  # scores have five places


def drills() -> list[Drill]:
    """One, where Spark and Java are installed."""
    there = importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None
    return [Drill("frames, spark", _KILLS, partial(_prepared, _ROWS))] if there else []


@contextmanager
def _prepared(rows: int, scratch: Path) -> Iterator[Attempt]:
    prepare(scratch, rows, random.Random(0))
    with session() as spark:

        def attempt(draw: random.Random) -> Iterator[Problem | None]:
            killed = label_and_kill(spark, scratch, _KILLS, draw)
            yield from [None] * (killed - 1)
            yield difference(scratch, rows)

        yield attempt


def prepare(folder: Path, rows: int, draw: random.Random) -> None:
    """A tiny model, and made-up rows of which one in a thousand has no text."""
    import tiny
    from zerotag.config import ModelConfig

    tiny.labeller(config=ModelConfig(encoder="tiny", depth=1, window=32)).save_pretrained(folder / "model")
    words = [word for sentence, _ in tiny.sentences(40) for word in sentence]
    texts = [
        None if number % 1_000 == 999 else " ".join(draw.choices(words, k=draw.randint(2, 6))) for number in range(rows)
    ]
    pd.DataFrame({"id": range(rows), "text": texts}).to_parquet(folder / "rows.parquet")


@contextmanager
def session() -> Iterator[Any]:
    """Spark in local mode, with two workers; a task may fail four times."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(_BATCH),
    }
    spark = SparkSession.builder.master("local[2,4]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        spark.stop()


def label_and_kill(spark: Any, folder: Path, kills: int, draw: random.Random) -> int:
    """Label the rows in as many partitions as there are kills; how many were carried out."""
    labels = labeller(str(folder / "model"))
    killed = folder / "killed"
    shutil.rmtree(killed, ignore_errors=True)
    killed.mkdir()
    seed = draw.random()

    def dying(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        moment = random.Random(f"{seed} {number}").randrange(2)
        for batch, frame in enumerate(labels(frames)):
            mark = killed / str(number)
            if batch == moment and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield frame

    frame = spark.read.parquet(str(folder / "rows.parquet")).repartition(kills)
    frame.mapInPandas(dying, labels.schema(frame)).write.mode("overwrite").parquet(str(folder / "labelled"))
    return len(list(killed.iterdir()))


def difference(folder: Path, rows: int) -> Problem | None:
    """What is lost, doubled or other than one process has it."""
    found = pd.read_parquet(folder / "labelled").sort_values("id", ignore_index=True)
    if found["id"].tolist() != list(range(rows)):
        return Problem("lost", f"{len(found):,} rows came out of {rows:,}")
    its_labeller = zerotag.load(folder / "model")
    for start in range(0, rows, _CHUNK):
        part = pq.read_table(folder / "rows.parquet").slice(start, _CHUNK).to_pandas()
        expected = its_labeller.label(part, progress=False)
        got = found.iloc[start : start + _CHUNK]
        for name in _SAME:
            if [*map(_plain, got[name])] != [*map(_plain, expected[name])]:
                return Problem("lost", f"{name} of rows from {start:,} on is not what one process says")
        if not np.allclose(got["zerotag_score"], expected["zerotag_score"], rtol=0, atol=_NEAR, equal_nan=True):
            return Problem("lost", f"scores of rows from {start:,} on are not what one process says")
    return None


def _plain(value: Any) -> Any:
    """A cell as a list, a text or None."""
    if isinstance(value, np.ndarray | list):
        return list(value)
    return None if pd.isna(value) else value


def main() -> None:
    """The drill from the command line."""
    rows, kills = map(int, sys.argv[1:])
    with TemporaryDirectory() as scratch, session() as spark:
        folder = Path(scratch)
        prepare(folder, rows, random.Random(0))
        began = time.monotonic()
        killed = label_and_kill(spark, folder, kills, random.Random(1))
        print(f"{rows:,} rows, {killed} workers killed, {time.monotonic() - began:.0f} s")
        problem = difference(folder, rows)
        print(problem or "as from one process")
    sys.exit(problem is not None)


if __name__ == "__main__":
    main()
