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


def added_names(label_names: Sequence[str], *, prefix: str = PREFIX) -> list[str]:
    """The names of the columns; several labels have a score each beside that of the strongest."""
    scores = [f"score_{name}" for name in label_names] if len(label_names) > 1 else []
    return [prefix + name for name in ("label", "score", *scores, "words", "spans")]


def refuse_collisions(where: str, existing: Collection[str], label_names: Sequence[str]) -> None:
    """Refuse a table that has one of the columns already."""
    for name in added_names(label_names):
        if name in existing:
            raise ZerotagError(f"{where}: there is a column {shown(name)} already; rename it or leave it out")


def added_values(result: dict[str, Any] | None, label_names: Sequence[str]) -> list[Any]:
    """The values of the columns for a record as JSON lines have it; nothing for a row that was not labelled."""
    if result is None:
        return [None] * len(added_names(label_names))
    several = len(label_names) > 1
    labels = result["labels"] if several else [result["label"]] if result["label"] else []
    scores = [result["scores"][name] for name in label_names] if several else []
    marked = [word["text"] for word in result["words"] if word["label"] is not None]
    return ["|".join(labels) or None, result["score"], *scores, marked, result["spans"]]


def added_table(results: Iterable[Labelled | None], label_names: Sequence[str], *, prefix: str = PREFIX) -> pa.Table:
    """The columns for some results as an Arrow table."""
    import pyarrow as pa  # here, because it is slow to load and few need it

    rows = [added_values(None if one is None else record(one, label_names), label_names) for one in results]
    fields = added_schema(label_names, prefix=prefix)
    columns = zip(*rows, strict=True) if rows else [[] for _ in fields]
    return pa.table([pa.array(list(column), field.type) for column, field in zip(columns, fields, strict=True)], fields)


def added_schema(label_names: Sequence[str], *, prefix: str = PREFIX) -> pa.Schema:
    """The columns as fields of an Arrow table."""
    import pyarrow as pa

    span = [("text", pa.string()), ("start", pa.int32()), ("end", pa.int32())]
    span += [("label", pa.string()), ("score", pa.float64())]
    *first, words, spans = added_names(label_names, prefix=prefix)
    kinds = [pa.string(), *[pa.float64()] * (len(first) - 1), pa.list_(pa.string()), pa.list_(pa.struct(span))]
    return pa.schema([*zip([*first, words, spans], kinds, strict=True)])
