"""Reads an upload in a process of its own: `python -m zerotag.serve.workspace.tables FILE FOLDER`.

The limits come on standard input. Whatever its format, all its columns go to `rows.jsonl`, and what there is to choose
from to `summary.json`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from zerotag.errors import ZerotagError
from zerotag.io.files import whole_file
from zerotag.io.lines import raw_lines
from zerotag.io.problems import excerpt, shown
from zerotag.io.readers.csv import table_rows
from zerotag.io.rows import Reject
from zerotag.io.sources import Source

ROWS, SUMMARY = "rows.jsonl", "summary.json"
_PREVIEW = 8  # rows
_PROBLEMS = 100  # that are named
_FEW = 20  # values: a column of labels has no more
_TEXT_NAMES = ("text", "sentence", "comment", "review", "tweet", "message", "body", "content")
_LABEL_NAMES = ("label", "labels", "class", "category", "target", "gold", "annotation")
_ID_NAMES = ("id", "uid", "uuid", "key", "index")


class Bad(NamedTuple):
    """A row that cannot be used, and why."""

    line: int
    reason: str
    excerpt: str


Found = tuple[int, dict[str, Any]] | Bad


class Summary:
    """What a table has, gathered row by row."""

    def __init__(self) -> None:
        self.rows = 0
        self.bad = 0
        self.problems: list[dict[str, Any]] = []
        self.preview: list[dict[str, Any]] = []
        self._columns: dict[str, _Column] = {}

    def add(self, row: dict[str, Any]) -> None:
        """Take a row into account."""
        self.rows += 1
        if len(self.preview) < _PREVIEW:
            self.preview.append(row)
        for name, value in row.items():
            self._columns.setdefault(name, _Column()).add(value)

    def refuse(self, bad: Bad) -> None:
        """Take note of a row that is left out."""
        self.bad += 1
        if len(self.problems) < _PROBLEMS:
            self.problems.append(bad._asdict())

    def as_json(self, name: str) -> dict[str, Any]:
        """What the page is told."""
        columns = {one: column.as_json() for one, column in self._columns.items()}
        return {
            "name": name,
            "rows": self.rows,
            "bad": self.bad,
            "problems": self.problems,
            "preview": self.preview,
            "columns": columns,
            "guess": _guess(self._columns),
        }


class _Column:
    """What the cells of a column are like."""

    def __init__(self) -> None:
        self.texts = 0
        self.characters = 0
        self.values: Counter[str] = Counter()

    def add(self, value: Any) -> None:
        if isinstance(value, str) and value.strip():
            self.texts += 1
            self.characters += len(value)
        if value is not None and len(self.values) <= _FEW:
            self.values[value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)[:200]] += 1

    @property
    def has_few(self) -> bool:
        return 1 < len(self.values) <= _FEW

    @property
    def mean(self) -> float:
        return self.characters / self.texts if self.texts else 0.0

    def as_json(self) -> dict[str, Any]:
        few = len(self.values) <= _FEW
        return {"characters": round(self.mean, 1), "values": dict(self.values.most_common()) if few else None}


def _guess(columns: dict[str, _Column]) -> dict[str, str | None]:
    """The columns that most likely have the text, the label and the number of a row."""
    by_length = sorted(columns, key=lambda name: -columns[name].mean)
    text = _named(columns, _TEXT_NAMES) or next(iter(by_length), None)
    others = {name: column for name, column in columns.items() if name != text}
    label = _named(others, _LABEL_NAMES) or next((name for name, column in others.items() if column.has_few), None)
    return {"text": text, "label": label, "id": _named(others, _ID_NAMES)}


def _named(columns: Iterable[str], names: Sequence[str]) -> str | None:
    by_name = {name.strip().lower(): name for name in columns}
    return next((by_name[name] for name in names if name in by_name), None)


def read_table(file: Path) -> Iterator[Found]:
    """The rows of a table of any format, with their lines, and in their place those that cannot be used."""
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise ZerotagError(f"{file.name}: a table is one of {', '.join(_READERS)}")
    return reader(file)


def _csv(file: Path) -> Iterator[Found]:
    rows = table_rows(Source(file))
    header: list[str] | None = None
    for line, cells in rows:
        if isinstance(cells, Reject):
            if header is None:
                raise ZerotagError(cells.reason)
            yield Bad(line, _reason(file, cells.reason), cells.excerpt)
        elif header is None:
            header = _checked_header(file, line, [cell.strip() for cell in cells])
        elif len(cells) != len(header):
            reason = f"{len(cells)} columns, the header has {len(header)}"
            yield Bad(line, reason, shown(" | ".join(cells)))
        else:
            yield line, dict(zip(header, cells, strict=True))


def _jsonl(file: Path) -> Iterator[Found]:
    with closing(raw_lines(Source(file))) as lines:
        for line in lines:
            if line.is_blank:
                continue
            try:
                row = json.loads(line.text)
                if not isinstance(row, dict):
                    raise ValueError("not a JSON object")
                yield line.number, row
            except (ValueError, RecursionError, ZerotagError) as error:
                reason = "not valid JSON" if isinstance(error, json.JSONDecodeError) else _reason(file, str(error))
                yield Bad(line.number, reason, excerpt(line.raw))


def _parquet(file: Path) -> Iterator[Found]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        number = 0
        for batch in pq.ParquetFile(file).iter_batches(batch_size=4096):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (pa.ArrowException, OSError) as error:
        raise ZerotagError(f"{file.name}: not a Parquet file that can be read ({error})") from None


def _xlsx(file: Path) -> Iterator[Found]:
    try:
        import python_calamine as calamine
    except ModuleNotFoundError:
        raise ZerotagError("spreadsheets need one more package: pip install 'zerotag[excel]'") from None
    try:
        rows = calamine.load_workbook(str(file)).get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (calamine.CalamineError, OSError) as error:
        raise ZerotagError(f"{file.name}: not a spreadsheet that can be read ({error})") from None
    header: list[str] | None = None
    for number, cells in enumerate(rows, 1):
        if all(cell == "" for cell in cells):
            continue
        if header is None:
            header = _checked_header(file, number, [str(cell).strip() for cell in cells])
        else:
            yield number, {name: _plain(cell) for name, cell in zip(header, cells, strict=False) if name}


_READERS = {".csv": _csv, ".tsv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet, ".xlsx": _xlsx}


def _checked_header(file: Path, line: int, header: list[str]) -> list[str]:
    twice = [name for name, count in Counter(header).items() if name and count > 1]
    if twice:
        raise ZerotagError(f"{file.name}, line {line}: two columns are called {shown(twice[0])}; rename one")
    if not any(header):
        raise ZerotagError(f"{file.name}, line {line}: the first row names the columns, and has no names")
    return header


def _plain(cell: Any) -> Any:
    if cell == "":
        return None
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _reason(file: Path, message: str) -> str:
    """A message without the file and line, which stand beside it."""
    place, _, rest = message.partition(": ")
    return rest if rest and place.startswith(str(file)) else message


def convert(file: Path, folder: Path, most_rows: int) -> None:
    """Write the rows of a table and its summary."""
    summary = Summary()
    with whole_file(folder / ROWS) as out:
        for found in read_table(file):
            if isinstance(found, Bad):
                summary.refuse(found)
                continue
            if summary.rows == most_rows:
                raise ZerotagError(f"{file.name} has more than {most_rows:,} rows; give a part of it")
            _, row = found
            line = json.dumps(row, ensure_ascii=False, default=str)
            out.write(line + "\n")
            summary.add(json.loads(line) if summary.rows < _PREVIEW else row)
    if not summary.rows:
        first = f": line {summary.problems[0]['line']}, {summary.problems[0]['reason']}" if summary.problems else ""
        raise ZerotagError(f"{file.name} has no rows that can be used{first}")
    with whole_file(folder / SUMMARY) as out:
        json.dump(summary.as_json(file.name), out, ensure_ascii=False, default=str)


def rows_of(folder: Path, start: int, count: int) -> list[str]:
    """Some of the rows, as JSON."""
    with (folder / ROWS).open(encoding="utf-8") as file:
        return [line.rstrip("\n") for line in islice(file, start, start + count)]


def limit_memory(most: int) -> None:
    """Have this process fail rather than take more memory, where the system can see to that."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main() -> int:
    """Read the file that the command line names."""
    file, folder = map(Path, sys.argv[1:])
    limits = json.load(sys.stdin)
    limit_memory(limits["bytes"])
    try:
        convert(file, folder, limits["rows"])
    except ZerotagError as error:
        sys.stderr.write(str(error).replace(str(file), file.name))
        return 2
    except MemoryError:
        sys.stderr.write(f"{file.name} needs more memory than there is for it; give a part of it")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
