"""Reads an upload in a process of its own: `python -m zerotag.serve.workspace.tables FILE FOLDER`.

The limits come on standard input. Whatever its format, all its columns go to `rows.jsonl`, and what there is to choose
from to `summary.json`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.files import whole_file
from zerotag.io.problems import shown
from zerotag.io.readers import reader_for
from zerotag.io.reading import records
from zerotag.io.rows import Reject
from zerotag.io.sources import Source

ROWS, SUMMARY = "rows.jsonl", "summary.json"
_PREVIEW = 20  # rows
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
    """The rows of a table of any format with their lines, and after them what cannot be used."""
    source = Source(file)
    as_format = "csv" if source.unpacked_name.suffix.lower() == ".tsv" else None  # else a word stands on each line
    columns = Columns(format=as_format)
    table = reader_for(source, columns).table
    if table is None:
        raise ZerotagError(f"{file.name}: not a table with a row for each sentence")
    found = table(source, columns)
    taken = set()
    names = found.names
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise ZerotagError(f"{file.name}: two columns are called {shown(twice[0])}; rename one")
    if not any(names):
        raise ZerotagError(f"{file.name}: the first row names the columns, and has no names")
    for line, cells in found.rows:
        if cells is None:
            continue
        taken.add(line)
        yield line, {name: cell for name, cell in zip(names, cells, strict=False) if name}
    for record in records(source, columns=replace(columns, text=next(filter(None, names)))):
        if isinstance(record.content, Reject) and record.line not in taken:
            yield Bad(record.line, _reason(file, record.content.reason), record.content.excerpt)


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


def _reason(file: Path, message: str) -> str:
    """A message without the file and line, which stand beside it."""
    place, _, rest = message.partition(": ")
    return rest if rest and place.startswith(str(file)) else message


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
