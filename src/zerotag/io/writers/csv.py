"""The input's table as CSV, with the columns of the results."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from zerotag.io.table_rows import as_text
from zerotag.io.writers import TableHead, WriterSpec
from zerotag.io.writers.packed import packed_text


def write_table(target: Path, head: TableHead, rows: Iterable[Sequence[Any]]) -> None:
    """A table with a header, separated and marked as the input was."""
    with packed_text(target, head.packing) as file:
        file.write("\ufeff" * head.byte_order_mark)
        writer = csv.writer(file, delimiter=head.delimiter, lineterminator="\n")
        writer.writerow(head.names)
        writer.writerows([*map(as_text, row)] for row in rows)


WRITER = WriterSpec(suffix=".csv", table=write_table)
