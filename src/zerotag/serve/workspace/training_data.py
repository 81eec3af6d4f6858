"""What of an upload can be trained on: `python -m zerotag.serve.workspace.training_data ROWS`.

The columns that were chosen come on standard input; on standard output comes what a person should know beforehand.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerotag.config import TrainConfig
from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.reading import read_training_data
from zerotag.training.cautions import about_data
from zerotag.types import Corpus, Example

_FEWEST = 10  # sentences
_LONG = 120  # words


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
        """The columns as the library reads them."""
        return Columns(text=self.text, labels=self.labels, negative=self.negative, format="jsonl")


def check(rows: Path, choice: Choice) -> dict[str, Any]:
    """What there is to learn from, and what is doubtful about it."""
    try:
        found = read_training_data(rows, columns=choice.columns)
    except ZerotagError as error:
        return {"sentences": 0, "labels": {}, "warnings": [], "problem": plain(str(error), rows)}
    corpus = found.corpus
    counts = {name: sum(example.labels[k] for example in corpus.examples) for k, name in enumerate(corpus.label_names)}
    return {
        "sentences": len(corpus),
        "labels": counts,
        "warnings": [*_left_out(found.problems), *found.remarks, *_warnings(corpus, counts)],
        "problem": _problem(corpus, counts),
    }


def plain(message: str, rows: Path) -> str:
    """A message of the library as somebody reads it who has not given a file or an option."""
    return (
        message.replace(f"{rows}:", "row ")
        .replace("--text-column and --label-column", "above")
        .replace("--negative", "above")
    )


def _left_out(problems: Sequence[str]) -> Iterator[str]:
    reasons = Counter(problem.partition(": ")[2].partition(";")[0] for problem in problems)
    for reason, count in reasons.most_common(5):
        yield f"{count:,} {'row' if count == 1 else 'rows'} left out: {reason}"


def _problem(corpus: Corpus[Example], counts: dict[str, int]) -> str | None:
    if len(corpus) < _FEWEST:
        return f"{len(corpus)} sentences are too few; at least {_FEWEST} are needed, and some hundreds are better"
    for name, count in counts.items():
        if count == len(corpus):
            return f"every sentence has “{name}”; sentences without it are needed as well"
        if not count:
            return f"no sentence has “{name}”; some are needed"
    return None


def _warnings(corpus: Corpus[Example], counts: dict[str, int]) -> Iterator[str]:
    yield from about_data(corpus, None, TrainConfig())
    if len(counts) > 1 and all(any(example.labels) for example in corpus.examples):
        yield "every sentence has one of the labels; if one of them means that there is none, choose it above"
    if long := sum(len(example.sentence.words) > _LONG for example in corpus.examples):
        yield f"{long:,} rows of more than {_LONG} words: single sentences show better which words count"


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def main() -> int:
    """Check the rows that the command line names."""
    try:
        found = check(Path(sys.argv[1]), Choice.of(json.load(sys.stdin)))
    except ZerotagError as error:
        sys.stderr.write(str(error))
        return 2
    json.dump(found, sys.stdout, ensure_ascii=False)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
