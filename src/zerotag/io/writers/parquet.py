"""The records of JSON lines as Arrow batches that can be appended to a file, and as Parquet in the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from zerotag.io.writers import Origin, WriterSpec
from zerotag.io.writers.jsonl import record
from zerotag.io.writers.style import Style, decided
from zerotag.text.printable import encodable
from zerotag.types import Scored

if TYPE_CHECKING:
    import pyarrow as pa

_ROW_GROUP = 8_192  # rows


def schema(label_names: Sequence[str], *, origins: bool) -> pa.Schema:
    """The fields of a record; those of `record`, in its order."""
    import pyarrow as pa  # here, because it is slow to load and few need it

    place = [("text", pa.string()), ("start", pa.int32()), ("end", pa.int32())]
    verdict = [("score", pa.float32()), ("label", pa.string())]
    if len(label_names) > 1:
        verdict += [
            ("scores", pa.struct([(name, pa.float32()) for name in label_names])),
            ("labels", pa.list_(pa.string())),
        ]
    return pa.schema(
        [
            *([("source", pa.string()), ("line", pa.int64())] if origins else []),
            ("text", pa.string()),
            *verdict,
            ("words", pa.list_(pa.struct([*place, *verdict]))),
            ("spans", pa.list_(pa.struct([*place, ("label", pa.string()), ("score", pa.float32())]))),
        ]
    )


def _encode(scored: Sequence[Scored], style: Style, origins: Sequence[Origin] | None) -> bytes:
    """Results as one message of an Arrow stream."""
    import pyarrow as pa

    fields = schema(style.label_names, origins=origins is not None)
    shown: Sequence[Origin | None] = [Origin(encodable(source), line) for source, line in origins or ()]
    results = zip(decided(scored, style), shown or [None] * len(scored), strict=True)
    rows = [record(one, style.label_names, origin) for one, origin in results]
    return cast(bytes, pa.RecordBatch.from_pylist(rows, fields).serialize().to_pybytes())


def _begin(style: Style, origins: bool) -> bytes:
    return cast(bytes, schema(style.label_names, origins=origins).serialize().to_pybytes())


def assemble(stream: Path, target: Path) -> None:
    """Make a Parquet file of an Arrow stream, a few thousand rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with (
        pa.OSFile(str(stream)) as file,
        pa.ipc.open_stream(file) as batches,
        pq.ParquetWriter(target, batches.schema, compression="zstd") as writer,
    ):
        for group in _groups(batches):
            table = pa.Table.from_batches(group)
            writer.write_table(table, row_group_size=table.num_rows)


def _groups(batches: Any) -> Iterator[list[Any]]:
    group: list[Any] = []
    for one in batches:
        group.append(one)
        if sum(member.num_rows for member in group) >= _ROW_GROUP:
            yield group
            group = []
    if group:
        yield group


WRITER = WriterSpec(suffix=".parquet", encode=_encode, begin=_begin, assemble=assemble)
