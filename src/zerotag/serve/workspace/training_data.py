"""What of an upload can be trained on: `python -m zerotag.serve.workspace.training_data ROWS OUT`.

The columns that were chosen come on standard input. Good rows go to OUT as the library's readers take them; on standard
output comes what a person should know beforehand.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io import read
from zerotag.io.columns import Columns
from zerotag.io.files import whole_file
from zerotag.io.labels import LabelScheme
from zerotag.io.rows import Cell, checked
from zerotag.text.segmentation import split
from zerotag.types import Corpus, Example

FEWEST = 10  # sentences
_FEW = 100
_FEW_OF_A_LABEL = 20
_RARE = 0.03
_LONG = 120  # words
_TEXT = "the text"  # no column of a table is called so, whose labels are beside it


@dataclass(frozen=True, slots=True)
class Choice:
    """The columns of a table to train on, and the values that mean "no label"."""

    text: str
    labels: tuple[str, ...]
    negative: tuple[str, ...] | None = None

    @classmethod
    def of(cls, given: dict[str, Any]) -> Choice:
        """The choice as the page sends it."""
        text, labels, negative = given.get("text"), given.get("labels"), given.get("negative")
        if not isinstance(text, str) or not _are_texts(labels) or not labels:
            raise ZerotagError("choose a column for the text and one for the label")
        if negative is not None and not _are_texts(negative):
            raise ZerotagError("negative is a list of values, or null")
        if text in labels:
            raise ZerotagError("the column of the text cannot be that of the label as well; choose another")
        return cls(text, tuple(labels), tuple(negative) if negative else None)

    @property
    def columns(self) -> Columns:
        """The columns in the file that training reads."""
        return Columns(text=_TEXT, labels=self.labels, negative=self.negative, format="jsonl")


def prepare(rows: Path, out: Path, choice: Choice) -> Counter[str]:
    """Write the rows that can be trained on; gives the reasons for which others cannot."""
    reasons: Counter[str] = Counter()
    with rows.open(encoding="utf-8") as file, whole_file(out) as good:
        for line in file:
            row = json.loads(line)
            reason = _reason(row, choice)
            if reason is None:
                kept = {_TEXT: row[choice.text], **{name: row[name] for name in choice.labels}}
                good.write(json.dumps(kept, ensure_ascii=False) + "\n")
            else:
                reasons[reason] += 1
    return reasons


def _reason(row: dict[str, Any], choice: Choice) -> str | None:
    text = row.get(choice.text)
    if not isinstance(text, str) or not text.strip():
        return "no text"
    try:
        checked("", split(text))
    except ZerotagError:
        return "no words"
    if any(row.get(name) in (None, "") for name in choice.labels):
        return "no label"
    try:
        LabelScheme(choice.columns, None).names([Cell("", row[name], name) for name in choice.labels])
    except ZerotagError as error:
        is_number = "is a number other" in str(error)  # said once for all such rows, whatever the numbers are
        return "a label that is a number other than 0 and 1" if is_number else str(error).removeprefix(": ")
    return None


def check(rows: Path, out: Path, choice: Choice) -> dict[str, Any]:
    """What there is to learn from, and what is doubtful about it."""
    reasons = prepare(rows, out, choice)
    skipped = [f"{count:,} {_rows(count)} left out: {reason}" for reason, count in reasons.most_common(5)]
    try:
        corpus = read(out, columns=choice.columns)
    except ZerotagError as error:
        return {"sentences": 0, "labels": {}, "warnings": skipped, "problem": _plain(str(error), out)}
    counts = {name: sum(example.labels[k] for example in corpus.examples) for k, name in enumerate(corpus.label_names)}
    return {
        "sentences": len(corpus),
        "labels": counts,
        "warnings": [*skipped, *_warnings(corpus, counts)],
        "problem": _problem(corpus, counts),
    }


def _problem(corpus: Corpus[Example], counts: dict[str, int]) -> str | None:
    if len(corpus) < FEWEST:
        return f"{len(corpus)} sentences are too few; at least {FEWEST} are needed, and some hundreds are better"
    for name, count in counts.items():
        if count == len(corpus):
            return f"every sentence has “{name}”; sentences without it are needed as well"
        if not count:
            return f"no sentence has “{name}”; some are needed"
    return None


def _warnings(corpus: Corpus[Example], counts: dict[str, int]) -> Iterator[str]:
    size = len(corpus)
    if size < _FEW:
        yield f"{size} sentences are few: words will be found less surely than with some hundreds"
    for name, count in counts.items():
        if count < _FEW_OF_A_LABEL or count < _RARE * size:
            yield f"“{name}” is rare: {count:,} of {size:,} sentences"
    if len(counts) > 1 and all(any(example.labels) for example in corpus.examples):
        yield "every sentence has one of the labels; if one of them means that there is none, choose it below"
    by_text: dict[str, set[tuple[bool, ...]]] = defaultdict(set)
    for example in corpus.examples:
        by_text[example.sentence.text].add(example.labels)
    if twice := size - len(by_text):
        yield f"{twice:,} {_rows(twice)} repeat another one"
    if torn := sum(len(labels) > 1 for labels in by_text.values()):
        yield f"{torn:,} {'text has' if torn == 1 else 'texts have'} different labels in different rows"
    if long := sum(len(example.sentence.words) > _LONG for example in corpus.examples):
        yield f"{long:,} {_rows(long)} of more than {_LONG} words: single sentences show better which words count"


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def _plain(message: str, path: Path) -> str:
    return (
        message.replace(f"{path}: ", "")
        .replace("with --negative", "below")
        .replace("; give --negative as the file writes it", "")
    )


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def main() -> int:
    """Check the rows that the command line names."""
    rows, out = map(Path, sys.argv[1:])
    try:
        found = check(rows, out, Choice.of(json.load(sys.stdin)))
    except ZerotagError as error:
        sys.stderr.write(str(error))
        return 2
    json.dump(found, sys.stdout, ensure_ascii=False)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
