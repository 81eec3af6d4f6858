"""Shards of files in S3, written to S3: the same bytes as on a disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import time

import pytest

import plans
import s3
import tiny
from zerotag.bulk import blocks
from zerotag.bulk.shards.markers import Markers, Running
from zerotag.bulk.shards.merge import merge
from zerotag.bulk.shards.worker import Worker, do_all
from zerotag.errors import ZerotagError
from zerotag.io.locks import BusyError
from zerotag.io.stores import LocalStore, path_of, store_at
from zerotag.io.writers.appendable import Form


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with s3.bucket() as place:
        yield place


@pytest.mark.parametrize(("suffix", "form"), [(".txt", Form("jsonl")), (".parquet", Form("parquet"))])
def test_from_s3_to_s3(tmp_path: Path, bucket: str, monkeypatch: pytest.MonkeyPatch, suffix: str, form: Form) -> None:
    monkeypatch.setattr(blocks, "_SMALLEST_STRIDE", 256)
    monkeypatch.setattr(blocks, "_STRIDE", 1)
    model = tmp_path / "model"
    tiny.labeller().save_pretrained(model)
    here = (
        plans.write_table(tmp_path / "a.parquet", 90)
        if suffix == ".parquet"
        else plans.write_lines(tmp_path / "a.txt", 90)
    )
    store_at(bucket).write(here.name, here.read_bytes())
    options = plans.options(form)
    local = plans.plan(model, [here], tmp_path / "out", 5, options)
    remote = plans.plan(model, [path_of(f"{bucket}/{here.name}")], f"{bucket}/out{suffix}", 5, options)
    assert [shard.ranges for shard in remote.shards] == [shard.ranges for shard in local.shards]
    assert [shard.digests for shard in remote.shards] == [shard.digests for shard in local.shards]
    merged: list[bytes] = []
    for plan, store in ((local, LocalStore(tmp_path / "out")), (remote, store_at(f"{bucket}/out{suffix}"))):
        with Worker(plan, store) as worker:
            assert do_all(worker, lambda _: None) == []
        target = tmp_path / f"merged{len(merged)}"
        merge(plan, store, target)
        merged.append(target.read_bytes())
    assert merged[0] == merged[1]


def test_in_a_store_signs_of_life_keep_others_away(tmp_path: Path, bucket: str) -> None:
    model = tmp_path / "model"
    tiny.labeller().save_pretrained(model)
    store = store_at(f"{bucket}/alive")
    plan = plans.plan(model, [plans.write_lines(tmp_path / "a.txt", 9)], store.place, 1)
    other = Running(plan=plan.id, worker="other:1", at=time())
    markers = Markers(store, plan)
    with Worker(plan, store) as worker:
        markers.put(0, other)
        with pytest.raises(BusyError, match="being done by other:1"):
            worker.do(0, give_way=True)
        markers.put(0, replace(other, at=time() - 100))
        assert worker.do(0, give_way=True)


@pytest.mark.usefixtures("bucket")
def test_a_bucket_that_is_not_there() -> None:
    with pytest.raises(ZerotagError, match=r"^s3://nobody-has-this/a/plan\.json: "):
        store_at("s3://nobody-has-this/a").write("plan.json", b"")
