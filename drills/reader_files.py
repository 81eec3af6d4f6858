"""Odd files of every format: records are labelled or rejected, or one line says what is wrong.

That takes bounded time and memory. What comes out is valid JSON, there is one answer to each record, and reading can go
on after any chunk.
"""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from drills.drill import Attempt, Drill, Problem
from drills.isolated import Isolated, LostError
from drills.odd_files import FORMATS, odd_file
from zerotag.errors import ZerotagError

_CASES = 10_000  # of each format
_AT_ONCE = 16


def drills() -> list[Drill]:
    """One for each format."""
    return [Drill(f"readers, {suffix[1:]}", _CASES, partial(_prepared, suffix)) for suffix in reversed(FORMATS)]


@contextmanager
def _prepared(suffix: str, scratch: Path) -> Iterator[Attempt]:
    use = Isolated(_use, "pyarrow.parquet", "bulk_runs")

    def attempt(draw: random.Random) -> Iterator[Problem | None]:
        its_suffix, content = odd_file(draw, suffix)
        path = scratch / f"in{its_suffix}"
        path.write_bytes(content)
        yield use(path, _unpacked_size(content) / 1e6).problem(f"{len(content):,} bytes of {its_suffix}")

    try:
        yield attempt
    finally:
        use.stop()


def _unpacked_size(content: bytes) -> int:
    if content.startswith(b"\x1f\x8b"):
        with suppress(Exception):
            return len(gzip.decompress(content))
    return len(content) * (30 if content.startswith(b"(\xb5/\xfd") else 1)


def _use(path: Path) -> None:
    """All that a file is read for."""
    from zerotag.io import read, read_gold

    for read_labels in (read, read_gold):
        with suppress(ZerotagError):
            read_labels(path)
    _label(path)


def _label(path: Path) -> None:
    from bulk_runs import run, style
    from zerotag.bulk.inputs import BEGINNING
    from zerotag.bulk.run import RecordError, label_to_stream
    from zerotag.io.writers.appendable import Form

    one_run = run(path, at_once=_AT_ONCE)
    out = io.BytesIO()
    with suppress(RecordError):  # not one record could be used, which is no mistake of ours
        state = label_to_stream(one_run, out, Form("jsonl"), style(), lambda _: None)
        lines = out.getvalue().splitlines()
        for line in lines:
            json.loads(line, parse_constant=_refuse)
        if len(lines) != state.sentences:
            raise LostError(f"{len(lines)} lines for {state.sentences} sentences")
    chunks = list(run(path, at_once=_AT_ONCE).inputs.chunks(BEGINNING, _AT_ONCE))
    middle = len(chunks) // 2
    if chunks:
        rest = list(run(path, at_once=_AT_ONCE).inputs.chunks(chunks[middle].end, _AT_ONCE))
        if [chunk.pieces for chunk in rest] != [chunk.pieces for chunk in chunks[middle + 1 :]]:
            raise LostError(f"going on after chunk {middle + 1} of {len(chunks)} gives other records")


def _refuse(constant: str) -> NoReturn:
    raise LostError(f"{constant} in the output, which is no JSON")
