"""What to read from a file: which columns, which labels mean "none", which format."""

from __future__ import annotations

from dataclasses import dataclass

from zerotag.errors import ZerotagError
from zerotag.io.problems import shown


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a file keeps its text and labels; the names do not matter for `word<TAB>label` files.

    text: the column with the raw text.
    labels: one column of label names, or several columns of 0 and 1 that name one label each.
    negative: the values that mean "no label"; None: `O`, `c`, `false`, `no`. The number 0 always does.
    format: tsv, csv, jsonl, parquet, m2 or text; None: by the suffix of the file.
    """

    text: str = "text"
    labels: tuple[str, ...] = ("label",)
    negative: tuple[str, ...] | None = None
    format: str | None = None

    def __post_init__(self) -> None:
        for name in ("labels", "negative"):
            if isinstance(getattr(self, name), str):
                raise ZerotagError(f"{name} is {shown(getattr(self, name))}; give a tuple of texts")
        if not self.labels or len(set(self.labels)) < len(self.labels):
            raise ZerotagError(f"labels is {shown(self.labels)}; name at least one column, and none twice")
