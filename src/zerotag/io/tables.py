"""Tables and columns as other libraries hold them in memory: pandas, polars, Arrow, datasets, lists of dictionaries.

None of these libraries is imported here: what somebody holds, somebody has imported.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from zerotag.io.problems import listed

if TYPE_CHECKING:
    import pyarrow as pa


class Table(Protocol):
    """A table whatever library holds it."""

    @property
    def names(self) -> Sequence[str]:
        """Its columns."""

    def values(self, name: str) -> list[Any]:
        """A column as plain values; None where a cell is empty."""

    def class_names(self, name: str) -> tuple[str, ...] | None:
        """What the numbers of a column mean, if the table knows."""

    def taken(self, rows: Sequence[int]) -> Table:
        """These rows, some perhaps several times, as the same kind of table."""

    def with_columns(self, added: pa.Table) -> Any:
        """The same kind of table with columns added on the right."""


def as_table(data: Any) -> Table | None:
    """The table that an object is, or None.

    Raises:
        TypeError: it is nearly one; the message says what is missing.
    """
    if _is_a(data, "pandas", "DataFrame"):
        return _Pandas(data)
    if _is_a(data, "polars", "DataFrame"):
        return _Polars(data)
    if _is_a(data, "polars", "LazyFrame"):
        raise TypeError("a polars LazyFrame has no rows yet: give frame.collect()")
    if _is_a(data, "pyarrow", "Table", "RecordBatch"):
        return _Arrow(data)
    if _is_a(data, "datasets", "Dataset"):
        return _Dataset(data)
    if _is_a(data, "datasets", "DatasetDict", "IterableDatasetDict"):
        raise TypeError(f"this is a dictionary of datasets: give one, as in data[{next(iter(data))!r}]")
    if _is_a(data, "datasets", "IterableDataset"):
        raise TypeError("an IterableDataset has no length: give datasets.Dataset.from_list(list(data.take(10_000)))")
    if isinstance(data, Mapping):
        raise TypeError(f"a dictionary with {listed(data)} is no table: give pandas.DataFrame(data) or a list of rows")
    if isinstance(data, list) and data and all(isinstance(row, Mapping) for row in data):
        return _Rows(data)
    return None


def as_values(data: Any) -> list[Any] | None:
    """The values of a column (a Series, an array), or None if the object is no column."""
    if _is_a(data, "pandas", "Series", "Index"):
        return [_plain(value) for value in data.tolist()]
    if _is_a(data, "polars", "Series"):
        return [_plain(value) for value in data.to_list()]
    if _is_a(data, "pyarrow", "Array", "ChunkedArray"):
        return [_plain(value) for value in data.to_pylist()]
    if _is_a(data, "numpy", "ndarray"):
        return [_plain(value) for value in data.tolist()]
    if _is_a(data, "datasets", "Column"):
        return [_plain(value) for value in data]
    return None


def _is_a(data: Any, library: str, *names: str) -> bool:
    module = sys.modules.get(library)
    return any(isinstance(data, kind) for name in names if (kind := getattr(module, name, None)) is not None)


def is_missing(value: Any) -> bool:
    """Whether a value is one of the many ways to write that there is nothing."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _plain(value: Any) -> Any:
    """None for what is missing; a list for an array in a cell."""
    if is_missing(value):
        return None
    return value.tolist() if hasattr(value, "tolist") else value


class _Pandas:
    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names = [*frame.columns]

    def values(self, name: str) -> list[Any]:
        return [_plain(value) for value in self._frame[name].tolist()]

    def class_names(self, name: str) -> tuple[str, ...] | None:  # noqa: ARG002
        return None

    def taken(self, rows: Sequence[int]) -> Table:
        return _Pandas(self._frame.iloc[[*rows]])

    def with_columns(self, added: pa.Table) -> Any:
        return self._frame.assign(**added.to_pydict())


class _Polars:
    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names = frame.columns

    def values(self, name: str) -> list[Any]:
        return [_plain(value) for value in self._frame[name].to_list()]

    def class_names(self, name: str) -> tuple[str, ...] | None:  # noqa: ARG002
        return None

    def taken(self, rows: Sequence[int]) -> Table:
        return _Polars(self._frame[[*rows]])

    def with_columns(self, added: pa.Table) -> Any:
        return self._frame.hstack(sys.modules["polars"].from_arrow(added))


class _Arrow:
    def __init__(self, table: Any) -> None:
        self._table = table
        self.names = table.column_names

    def values(self, name: str) -> list[Any]:
        return [_plain(value) for value in self._table.column(name).to_pylist()]

    def class_names(self, name: str) -> tuple[str, ...] | None:
        return class_names_of(self._table.schema, name)

    def taken(self, rows: Sequence[int]) -> Table:
        import pyarrow as pa

        return _Arrow(self._table.take(pa.array(rows, pa.int64())))

    def with_columns(self, added: pa.Table) -> Any:
        import pyarrow as pa

        is_batch = isinstance(self._table, pa.RecordBatch)
        table = pa.Table.from_batches([self._table]) if is_batch else self._table
        for field in added.schema:
            table = table.append_column(field, added.column(field.name))
        return table.combine_chunks().to_batches()[0] if is_batch else table


class _Dataset:
    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.names = dataset.column_names

    def values(self, name: str) -> list[Any]:
        return [_plain(value) for value in self._dataset.with_format(None)[name]]

    def class_names(self, name: str) -> tuple[str, ...] | None:
        feature = self._dataset.features[name]
        return _telling(getattr(getattr(feature, "feature", feature), "names", None))

    def taken(self, rows: Sequence[int]) -> Table:
        return _Dataset(self._dataset.select(rows))

    def with_columns(self, added: pa.Table) -> Any:
        datasets = sys.modules["datasets"]
        return datasets.concatenate_datasets([self._dataset, datasets.Dataset(added)], axis=1)


class _Rows:
    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = rows
        self.names = [*dict.fromkeys(name for row in rows for name in row)]

    def values(self, name: str) -> list[Any]:
        return [_plain(row.get(name)) for row in self._rows]

    def class_names(self, name: str) -> tuple[str, ...] | None:  # noqa: ARG002
        return None

    def taken(self, rows: Sequence[int]) -> Table:
        return _Rows([self._rows[row] for row in rows])

    def with_columns(self, added: pa.Table) -> list[dict[str, Any]]:
        return [{**row, **new} for row, new in zip(self._rows, added.to_pylist(), strict=True)]


def class_names_of(schema: pa.Schema, name: str) -> tuple[str, ...] | None:
    """The names of classes that `datasets` and the hub keep in the metadata of an Arrow schema."""
    import json

    try:
        feature = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"][name]
        names = feature.get("feature", feature)["names"]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return _telling(names)


def _telling(names: Any) -> tuple[str, ...] | None:
    """Names of classes that say more than their numbers: a class without a name is called by its number."""
    are_texts = isinstance(names, list) and all(isinstance(one, str) for one in names)
    return None if not are_texts or all(map(str.isdecimal, names)) else tuple(names)
