"""JSON Lines: one object per line with a text or its words, labels, and for evaluation word labels or spans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from zerotag.data.columns import Columns
from zerotag.data.lines import lines, without_end
from zerotag.data.problems import shown
from zerotag.data.rows import Row, from_record
from zerotag.errors import ZerotagError


def rows(path: Path | None, columns: Columns, *, labelled: bool) -> Iterator[Row]:
    """A row per line that is not blank."""
    for where, line in lines(path):
        if line.strip():
            yield from_record(where, _record(where, without_end(line)), columns, labelled=labelled)


def _record(where: str, line: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ZerotagError(f"{where}: not valid JSON ({error}): {shown(line)}; write one object per line") from None
    if not isinstance(record, dict):
        raise ZerotagError(f"{where}: {shown(line)} is not a JSON object; write one object per line")
    if "\\ud" in line.lower():
        _refuse_lone_surrogates(where, record)
    return record


def _refuse_lone_surrogates(where: str, record: dict[str, object]) -> None:
    # JSON can spell half a character (\ud83d alone); no text file, tokenizer or model can hold one.
    try:
        json.dumps(record, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ZerotagError(
            f"{where}: \\u{ord(error.object[error.start]):04x} is half a character; write both halves or neither"
        ) from None
