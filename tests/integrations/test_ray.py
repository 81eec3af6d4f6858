"""Batches of Ray Data."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import tiny
import zerotag
from zerotag.integrations.ray import Labeller

TEXTS = ["the pump may fail in winter .", "", "a valve leaks", None]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "tiny"
    tiny.labeller().save_pretrained(folder)
    return folder


def test_a_batch_gets_what_the_labeller_says(model: Path) -> None:
    batch = pa.table({"id": [1, 2, 3, 4], "body": TEXTS})
    found = Labeller(str(model), text="body", threshold=0.3)(batch)
    assert found.equals(zerotag.load(model).label(batch, text="body", threshold=0.3))
    assert found.column_names == [
        *("id", "body", "zerotag_label", "zerotag_score", "zerotag_words", "zerotag_spans"),
    ]


@pytest.mark.filterwarnings("ignore")  # those of Ray's own
@pytest.mark.timeout(1_800)  # on a machine that has much else to do
def test_in_a_pipeline(model: Path) -> None:
    ray = pytest.importorskip("ray", reason="Ray is installed by make test-all")
    pytest.importorskip("ray.data")
    ray.init(address="local", num_cpus=2, log_to_driver=False, include_dashboard=False)
    try:
        rows = [{"id": number, "text": TEXTS[number % 4]} for number in range(40)]
        found = (
            ray.data.from_items(rows)
            .map_batches(
                Labeller, fn_constructor_args=[str(model)], batch_format="pyarrow", batch_size=7, concurrency=1
            )
            .take_all()
        )
    finally:
        ray.shutdown()
    expected = zerotag.load(model).label(pa.Table.from_pylist(rows)).to_pylist()
    by_id = {row["id"]: row for row in found}
    assert [by_id[row["id"]]["zerotag_label"] for row in expected] == [row["zerotag_label"] for row in expected]
    assert [by_id[row["id"]]["zerotag_score"] for row in expected] == [
        row["zerotag_score"] if row["zerotag_score"] is None else pytest.approx(row["zerotag_score"], abs=1e-5)
        for row in expected
    ]
