"""The records of JSON lines as Arrow batches that can be appended to a file, and as Parquet in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from zerotag.io.table_rows import as_text
from zerotag.io.writers import Origin, TableHead, WriterSpec
from zerotag.io.writers.jsonl import record
from zerotag.io.writers.style import Style, decided
from zerotag.text.printable import encodable
from zerotag.types import Scored

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = 8_192  # rows


def schema(label_names: Sequence[str], *, origins: bool, of_documents: bool) -> pa.Schema:
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
            *([("start", pa.int64()), ("end", pa.int64())] if of_documents else []),
            ("text", pa.string()),
            *verdict,
            ("words", pa.list_(pa.struct([*place, *verdict]))),
            ("spans", pa.list_(pa.struct([*place, ("label", pa.string()), ("score", pa.float32())]))),
        ]
    )


def _encode(scored: Sequence[Scored], style: Style, origins: Sequence[Origin] | None) -> bytes:
    """Results as one message of an Arrow stream."""
    import pyarrow as pa

    fields = schema(style.label_names, origins=origins is not None, of_documents=style.of_documents)
    shown: Sequence[Origin | None] = [Origin(encodable(source), line) for source, line in origins or ()]
    results = zip(decided(scored, style), shown or [None] * len(scored), strict=True)
    rows = [record(one, style.label_names, origin) for one, origin in results]
    return cast(bytes, pa.RecordBatch.from_pylist(rows, fields).serialize().to_pybytes())


def _begin(style: Style, origins: bool) -> bytes:
    fields = schema(style.label_names, origins=origins, of_documents=style.of_documents)
    return cast(bytes, fields.serialize().to_pybytes())


def assemble(stream: Path, target: Path) -> None:
    """Make a Parquet file of an Arrow stream."""
    import pyarrow as pa

    with pa.OSFile(str(stream)) as file, pa.ipc.open_stream(file) as batches:
        _write(batches, batches.schema, target)


def join(files: Sequence[Callable[[], BinaryIO]], target: Path) -> None:
    """Make the file that one run would have written of what several have."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with files[0]() as first:
        fields = _as_written(pq.ParquetFile(first).schema_arrow)

    def batches() -> Iterator[pa.RecordBatch]:
        for opened in files:
            with opened() as file:
                for batch in pq.ParquetFile(file, pre_buffer=False).iter_batches():
                    yield pa.RecordBatch.from_arrays(batch.columns, schema=fields)

    _write(batches(), fields, target)


def _as_written(read: pa.Schema) -> pa.Schema:
    """The fields of a file, without what reading it adds to them."""
    names = [field.name for field in read.field("scores").type] if "scores" in read.names else [""]
    return schema(names, origins="source" in read.names, of_documents="start" in read.names)


def _write(batches: Iterable[pa.RecordBatch], fields: pa.Schema, target: Path) -> None:
    """Make a Parquet file, a few thousand rows at a time; how they come in batches makes no difference."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(target, fields, compression="zstd") as writer:
        for table in _groups(batches, fields):
            writer.write_table(table.combine_chunks(), row_group_size=ROW_GROUP)


def _groups(batches: Iterable[pa.RecordBatch], fields: pa.Schema) -> Iterator[pa.Table]:
    import pyarrow as pa

    held = fields.empty_table()
    for one in batches:
        held = pa.concat_tables([held, pa.Table.from_batches([one], fields)])
        while held.num_rows >= ROW_GROUP:
            yield held.slice(0, ROW_GROUP)
            held = held.slice(ROW_GROUP)
    if held.num_rows:
        yield held


def write_table(target: Path, head: TableHead, rows: Iterable[Sequence[Any]]) -> None:
    """A table of any columns; cells of columns that hold texts become texts."""
    import pyarrow as pa

    fields = head.schema
    assert fields is not None  # whoever assembles a table gives one
    texts = [pa.types.is_string(field.type) or pa.types.is_large_string(field.type) for field in fields]

    def batches() -> Iterator[pa.RecordBatch]:
        remaining = iter(rows)
        while some := [*islice(remaining, ROW_GROUP)]:
            columns = [
                pa.array([None if v is None else as_text(v) for v in column] if is_text else column, field.type)
                for column, field, is_text in zip(map(list, zip(*some, strict=True)), fields, texts, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=fields)

    _write(batches(), fields, target)


WRITER = WriterSpec(table=write_table, suffix=".parquet", encode=_encode, begin=_begin, assemble=assemble, join=join)
