"""Writes what the page shows as a file: `python -m zerotag.serve.workspace.exporting RECORDS ROWS TARGET`.

The records are JSON lines as the page downloads them, each with its `line` in the rows, if it has one, and with the
right labels of its words (`gold`) where a person has looked at it. What else is known comes on standard input.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zerotag.errors import ZerotagError
from zerotag.evaluation.corpus_report import Measured, lead, page
from zerotag.evaluation.lexicon import THRESHOLDS, labelled_corpus
from zerotag.evaluation.metrics import PRF, at_thresholds
from zerotag.io.annotation.labelstudio import render_annotations
from zerotag.io.columns import Columns
from zerotag.io.files import whole_file
from zerotag.io.table_output import TableOutput
from zerotag.io.writers import WRITERS
from zerotag.io.writers.style import Style
from zerotag.serve.client import labelled_of
from zerotag.text.printable import counted
from zerotag.types import Labelled, Rule

TABLES = ("csv", "xlsx", "parquet")
MEDIA_TYPES = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
    "report": "text/html",
    "labelstudio": "application/json",
    "annotations": "application/json",
}
_SHOWN = 60  # words of a label in the report


@dataclass(frozen=True, slots=True)
class Export:
    """A format of `MEDIA_TYPES`, and what is known of the results beside their records."""

    format: str
    style: Style
    supervision: str

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Export:
        """The export as the service describes it."""
        rules = tuple(Rule(**rule) for rule in given["rules"])
        style = Style(label_names=tuple(given["labels"]), rules=rules, title=given["title"])
        return cls(given["format"], style, given["supervision"])


def write(export: Export, records: Path, rows: Path, target: Path) -> None:
    """Write the file."""
    if export.format in TABLES:
        _write_table(export, records, rows, target)
        return
    with whole_file(target) as file:
        file.writelines(_text(export, records))


def _text(export: Export, records: Path) -> Iterable[str]:
    match export.format:
        case "report":
            return _report(export, records)
        case "annotations":
            return render_annotations(_results(export, records), export.style)
        case name:
            render = WRITERS.get(name).render
            assert render is not None
            return render(_results(export, records), export.style)


def _report(export: Export, records: Path) -> Iterator[str]:
    style = export.style
    corpus = labelled_corpus(_results(export, records), style.label_names, style.rules)
    intro = lead(corpus, export.supervision)
    looked_at = [one for one in _read(records) if "gold" in one and one["words"]]
    if looked_at:
        few = counted(len(looked_at), "sentence")
        intro += f" Precision and recall are of words, on {few} that a person has looked at."
    return page(corpus, Measured(by_threshold=_by_threshold(looked_at, style.label_names)), style, intro, _SHOWN)


def _by_threshold(looked_at: Sequence[dict[str, Any]], label_names: Sequence[str]) -> dict[str, list[PRF]]:
    """What each threshold finds in the sentences that a person has looked at, for labels that some word has."""
    results = [labelled_of(one, label_names) for one in looked_at]
    found = {}
    for name in label_names:
        golds = [
            np.array([name in ([cell] if isinstance(cell, str) else cell) for cell in one["gold"]]) for one in looked_at
        ]
        scores = [np.array([word.scores[name] for word in one.words]) for one in results]
        if any(gold.any() for gold in golds):
            found[name] = at_thresholds(golds, scores, THRESHOLDS)
    return found


def _write_table(export: Export, records: Path, rows: Path, target: Path) -> None:
    """The table with all its columns; where texts came without one, a table of texts."""
    placed = records.with_name("placed.jsonl")
    with placed.open("w", encoding="utf-8") as file:
        for number, record in enumerate(_read(records), 1):
            place = {"source": str(rows), "line": record.get("line", number)}
            file.write(json.dumps({**record, **place}, ensure_ascii=False) + "\n")
    if not rows.exists():
        with rows.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": one["text"]}, ensure_ascii=False) + "\n" for one in _read(records))
    columns = Columns(format="jsonl")
    output = TableOutput((rows,), columns, export.format, "", export.style.label_names)
    output.check()
    output.assemble(placed, target)


def _results(export: Export, records: Path) -> Iterator[Labelled]:
    return (labelled_of(record, export.style.label_names) for record in _read(records))


def _read(records: Path) -> Iterator[dict[str, Any]]:
    with records.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def main() -> int:
    """Write the file that the command line names."""
    records, rows, target = map(Path, sys.argv[1:])
    try:
        write(Export.of(json.load(sys.stdin)), records, rows, target)
    except ZerotagError as error:
        sys.stderr.write(str(error).replace(str(rows), "the table"))
        return 2
    except (KeyError, TypeError, ValueError) as error:
        sys.stderr.write(f"the results are not as the page sends them ({type(error).__name__}: {error})")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
