"""All rows of a file with all their cells, beside the sentences that its reader makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

Rows = Iterable[tuple[int, Sequence[Any] | None]]
"""Where a row stands, as the records of its reader say it, and its cells; None for a row that is there and has none
that can be used, so that rows after it keep their number."""


@dataclass(frozen=True, slots=True)
class TableRows:
    """The columns of a file and its rows, which can be gone through once."""

    names: tuple[str, ...]
    rows: Rows
    kinds: Mapping[str, set[type]] = field(default_factory=dict)
    """The kinds of values in each column; texts where nothing is said."""

    schema: pa.Schema | None = None
    """The types of the columns, if the file has them."""

    delimiter: str = ","
    """Between the cells of a CSV file."""

    byte_order_mark: bool = False
    """Whether a CSV file begins with one, by which Excel knows UTF-8."""


def rows_of_objects(objects: Callable[[], Iterable[tuple[int, Mapping[str, Any] | None]]]) -> TableRows:
    """The table of objects that may have different fields, None for what is no object; they are gone through twice."""
    kinds: dict[str, set[type]] = {}
    for _, one in objects():
        for name, value in (one or {}).items():
            kinds.setdefault(name, set()).update(() if value is None else (type(value),))
    names = tuple(kinds)
    rows = ((line, None if one is None else [one.get(name) for name in names]) for line, one in objects())
    return TableRows(names, rows, kinds)


def arrow_type(kinds: set[type]) -> pa.DataType:
    """The type of a column whose cells are of some kinds; text, if no other has room for all of them."""
    import pyarrow as pa  # here, because it is slow to load and few need it

    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds and kinds <= {int, float}:
        return pa.float64()
    if kinds == {datetime}:
        return pa.timestamp("us")
    return pa.date32() if kinds == {date} else pa.string()


def as_text(value: Any) -> str:
    """A cell as text: nothing as nothing, lists and objects as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)
