"""Parquet, batch by batch and only the columns that are needed; they are named as in JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zerotag.data.columns import Columns
from zerotag.data.lines import name_of, opened
from zerotag.data.rows import SPANS, WORD_LABELS, WORDS, Row, check_columns, from_record
from zerotag.errors import ZerotagError

_BATCH = 1_000  # rows


def rows(path: Path | None, columns: Columns, *, labelled: bool) -> Iterator[Row]:
    """A row per record."""
    for number, record in enumerate(_records(path, columns, labelled), 1):
        yield from_record(f"{name_of(path)}: row {number}", record, columns, labelled=labelled)


def _records(path: Path | None, columns: Columns, labelled: bool) -> Iterator[dict[str, Any]]:
    import pyarrow as pa  # here, because it is slow to load and few need it
    import pyarrow.parquet as pq

    if path is None:
        raise ZerotagError(f"{name_of(path)}: Parquet cannot be read from there; give a file")
    wanted = {columns.text, WORDS} | ({*columns.labels, WORD_LABELS, SPANS} if labelled else set())
    with opened(path) as file:
        try:
            # Nothing is read ahead: that would keep whole row groups in memory.
            table = pq.ParquetFile(file, pre_buffer=False)
            existing = table.schema_arrow.names
            check_columns(str(path), existing, columns, labelled=labelled)
            for batch in table.iter_batches(_BATCH, columns=[name for name in existing if name in wanted]):
                yield from batch.to_pylist()
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = str(error).splitlines()[0]
            raise ZerotagError(f"{path}: not a readable Parquet file ({reason}); write or fetch it again") from None
