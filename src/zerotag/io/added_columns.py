"""The columns that labelling adds to a table: label, score, the marked words, and where they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from zerotag.errors import ZerotagError
from zerotag.io.problems import shown
from zerotag.io.writers.jsonl import record
from zerotag.types import Labelled

if TYPE_CHECKING:
    import pyarrow as pa

PREFIX = "zerotag_"
_PLACE = ("sentence", "start", "end")  # where texts are documents, which have a row for each sentence


def added_names(label_names: Sequence[str], *, prefix: str = PREFIX, of_documents: bool = False) -> list[str]:
    """The names of the columns; several labels have a score each beside that of the strongest."""
    place = _PLACE if of_documents else ()
    scores = [f"score_{name}" for name in label_names] if len(label_names) > 1 else []
    return [prefix + name for name in (*place, "label", "score", *scores, "words", "spans")]


def refuse_collisions(
    where: str, existing: Collection[str], label_names: Sequence[str], *, of_documents: bool = False
) -> None:
    """Refuse a table that has one of the columns already."""
    for name in added_names(label_names, of_documents=of_documents):
        if name in existing:
            raise ZerotagError(f"{where}: there is a column {shown(name)} already; rename it or leave it out")


def added_values(result: dict[str, Any] | None, label_names: Sequence[str], *, of_documents: bool = False) -> list[Any]:
    """The values of the columns for a record as JSON lines have it; nothing for a row that was not labelled."""
    if result is None:
        return [None] * len(added_names(label_names, of_documents=of_documents))
    place = [result["text"], result["start"], result["end"]] if of_documents else []
    several = len(label_names) > 1
    labels = result["labels"] if several else [result["label"]] if result["label"] else []
    scores = [result["scores"][name] for name in label_names] if several else []
    marked = [word["text"] for word in result["words"] if word["label"] is not None]
    return [*place, "|".join(labels) or None, result["score"], *scores, marked, result["spans"]]


def added_table(
    results: Iterable[Labelled | None],
    label_names: Sequence[str],
    *,
    prefix: str = PREFIX,
    of_documents: bool = False,
) -> pa.Table:
    """The columns for some results as an Arrow table."""
    import pyarrow as pa  # here, because it is slow to load and few need it

    records = (None if one is None else record(one, label_names) for one in results)
    rows = [added_values(one, label_names, of_documents=of_documents) for one in records]
    fields = added_schema(label_names, prefix=prefix, of_documents=of_documents)
    columns = zip(*rows, strict=True) if rows else [[] for _ in fields]
    return pa.table([pa.array(list(column), field.type) for column, field in zip(columns, fields, strict=True)], fields)


def added_schema(label_names: Sequence[str], *, prefix: str = PREFIX, of_documents: bool = False) -> pa.Schema:
    """The columns as fields of an Arrow table."""
    import pyarrow as pa

    span = [("text", pa.string()), ("start", pa.int32()), ("end", pa.int32())]
    span += [("label", pa.string()), ("score", pa.float64())]
    names = added_names(label_names, prefix=prefix, of_documents=of_documents)
    place = [pa.string(), pa.int64(), pa.int64()] if of_documents else []
    scores = [pa.float64()] * (len(names) - len(place) - 3)
    kinds = [*place, pa.string(), *scores, pa.list_(pa.string()), pa.list_(pa.struct(span))]
    return pa.schema([*zip(names, kinds, strict=True)])
