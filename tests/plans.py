"""Plans over made-up lines with a tiny untrained model, in blocks of a few lines."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import tiny
from zerotag.bulk.inputs import Inputs
from zerotag.bulk.shards.cutting import cut
from zerotag.bulk.shards.plan import Model, Options, Plan, write_plan
from zerotag.io import Columns, Source
from zerotag.io.stores import store_at
from zerotag.io.writers.appendable import Form

AT_ONCE = 4
JSONL = Form("jsonl", origins=True)


def write_lines(path: Path, count: int, seed: int = 0) -> Path:
    """Sentences of several lengths; now and then a line that is empty or no text."""
    draw = random.Random(seed)
    words = [word for sentence, _ in tiny.sentences(40) for word in sentence]
    texts = [" ".join(draw.choices(words, k=draw.randint(1, 12))).encode() for _ in range(count)]
    texts = [draw.choice([b"", b"\xff not UTF-8"]) if draw.random() < 0.1 else text for text in texts]
    path.write_bytes(b"\n".join(texts) + b"\n")
    return path


def options(form: Form = JSONL, *, strict: bool = False) -> Options:
    return Options(
        form=form,
        method="native",
        threshold=None,
        text_column="text",
        input_format=None,
        split_sentences=False,
        device="cpu",
        threads=1,
        at_once=AT_ONCE,
        strict=strict,
    )


def plan(model: Path, paths: list[Path], out: Path | str, shards: int, how: Options | None = None) -> Plan:
    """A plan that is written into its folder."""
    inputs = Inputs([Source(path) for path in paths], Columns())
    inputs.check()
    made = Plan(
        model=Model.of(str(model)),
        options=how or options(),
        folder=str(Path.cwd()),
        inputs=tuple((source.name, size) for source, size in zip(inputs.sources, inputs.sizes, strict=True)),
        shards=cut(inputs, AT_ONCE, shards),
    )
    write_plan(store_at(str(out)), made, overwrite=False)
    return made


def write_table(path: Path, count: int, seed: int = 0) -> Path:
    """The same as Parquet, in small row groups."""
    lines = write_lines(path.with_suffix(".lines"), count, seed).read_text("utf-8", "replace").splitlines()
    pq.write_table(pa.table({"text": [line or "." for line in lines]}), path, row_group_size=7)
    return path
