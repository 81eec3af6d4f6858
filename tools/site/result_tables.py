"""The tables of README.md and of pages in docs/ that show results, written from experiments/*/summary.json.

python tools/site/result_tables.py        # after results have changed

A table stands between `<!-- numbers: NAME -->` and `<!-- end of numbers -->`, and NAME is one of `TABLES`. No other
place in these texts should have a measured number that a new run can change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zerotag.research.compare.cells import flagged
from zerotag.research.compare.experiment_file import read_experiment
from zerotag.research.compare.published import CORPUS_TITLES, best_without_word_labels

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))

_MARKED = re.compile(r"(<!-- numbers: ([\w-]+) -->\n).*?(<!-- end of numbers -->)", re.DOTALL)


class Row(NamedTuple):
    """A method of an experiment, under a name that a reader understands; without one, what others published."""

    title: str
    experiment: str = ""
    method: str = ""


class Table(NamedTuple):
    """Rows, and what to show of each on each corpus, in percent."""

    rows: Sequence[Row]
    measures: Sequence[str] = ("word_f1", "map")
    minutes: bool = False
    """Whether the minutes of a training are in the last column."""


QUALITY = (
    Row("zerotag, all-mpnet-base-v2", "record", "zerotag"),
    Row("the same, from 4,000 training sentences", "curve", "zerotag, 4,000 sentences"),
    Row("zerotag, all-MiniLM-L6-v2, the packaged encoder", "record-minilm", "zerotag"),
    Row("best published without word labels"),
    Row("supervised: all-mpnet-base-v2 told the label of every word", "record", "Supervised by word labels"),
)
TABLES = {
    "quality": Table(QUALITY),
    "depth": Table(
        (
            Row("weighted soft attention, 12 layers, β = 2", "record", "Weighted soft attention"),
            Row("6 layers, β = 4", "record", "Weighted soft attention, β = 4, half depth"),
            Row("zerotag, 6 layers", "record", "zerotag"),
        ),
        ("sentence_f1", "word_f1", "map"),
    ),
    "amount": Table(
        (
            *(Row(f"{count} sentences", "curve", f"zerotag, {count} sentences") for count in ("250", "1,000", "4,000")),
            Row("all: 13,087 to 30,908", "curve", "zerotag"),
        ),
        minutes=True,
    ),
    "encoders": Table(
        (
            Row("all-MiniLM-L6-v2, 3 of 6 layers", "record-minilm", "zerotag"),
            Row("all-mpnet-base-v2, 6 of 12 layers", "record", "zerotag"),
            Row("all-MiniLM-L6-v2, supervised", "record-minilm", "Supervised by word labels"),
            Row("all-mpnet-base-v2, supervised", "record", "Supervised by word labels"),
        ),
        ("sentence_f1", "word_f1", "map"),
    ),
    "laptop": Table(
        (
            Row("zerotag", "laptop", "zerotag"),
            Row("lexical baseline", "laptop", "lexical baseline"),
        ),
        ("sentence_f1", "word_f1", "map"),
    ),
    "methods": Table(
        (
            *(
                Row(name, "paper-mpnet", name)
                for name in ("Random baseline", "LIME", "Attention heads", "Gradient × input", "Occlusion")
            ),
            Row("Weighted soft attention, the paper's settings", "paper-mpnet", "Weighted soft attention"),
            Row("zerotag", "record", "zerotag"),
        ),
    ),
}
_SHORT = {"sentence_f1": "sentence F1", "word_f1": "word F1", "map": "MAP"}


def main() -> None:
    """Write every table anew."""
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = filled_in(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(page.relative_to(ROOT))


def filled_in(text: str, draw: Callable[[str], str] | None = None) -> str:
    """A page with its tables as the results have them now."""
    drawn = draw or (lambda name: markdown(TABLES[name]))
    return _MARKED.sub(lambda found: f"{found[1]}\n{drawn(found[2])}\n{found[3]}", text)


def markdown(table: Table) -> str:
    """The table in Markdown, and below it what its cells are and how many seeds they are means of."""
    corpora = list(summary_of(next(row.experiment for row in table.rows if row.experiment)))
    titles = [*(CORPUS_TITLES.get(corpus, corpus) for corpus in corpora), *(["minutes"] if table.minutes else [])]
    lines = [f"| | {' | '.join(titles)} |", f"|---|{'---:|' * len(titles)}"]
    seeds: set[int] = set()
    marks = False
    for row in table.rows:
        cells = []
        for corpus in corpora:
            cell, counted = _cell(row, corpus, table.measures)
            cells.append(cell)
            seeds |= counted
        if table.minutes:
            cells.append(_minutes(row, corpora))
        title = _title(row)
        marks |= title != row.title
        lines.append(f"| {title} | {' | '.join(cells)} |")
    lines.append("")
    lines.append("\n".join(_legend(table, seeds, marks)))
    return "\n".join(lines) + "\n"


def _cell(row: Row, corpus: str, measures: Sequence[str]) -> tuple[str, set[int]]:
    """Numbers with a slash between, and of how many seeds they are means."""
    if not row.experiment:
        found = (best_without_word_labels(corpus, measure) for measure in measures)
        return " / ".join("–" if one is None else f"{one[0]:.1f}" for one in found), set()
    of_method = summary_of(row.experiment).get(corpus, {}).get(row.method)
    if of_method is None:
        return "–", set()
    values = [of_method.get(measure) for measure in measures]
    return (
        " / ".join("–" if one is None else f"{100 * one['mean']:.1f}" for one in values),
        {one["n"] for one in values if one is not None},
    )


def _minutes(row: Row, corpora: Sequence[str]) -> str:
    """Of the shortest and the longest training."""
    if not row.experiment:
        return ""
    summary = summary_of(row.experiment)
    trained = (summary[corpus][row.method] for corpus in corpora if row.method in summary.get(corpus, {}))
    minutes = sorted(one["training_seconds"]["mean"] / 60 for one in trained)
    low, high = f"{minutes[0]:.1f}", f"{minutes[-1]:.1f}"
    return low if low == high else f"{low} to {high}"


def _title(row: Row) -> str:
    """With a mark where word labels had a say."""
    if not row.experiment:
        return row.title
    experiment = read_experiment(ROOT / "experiments" / f"{row.experiment}.toml")
    method = next(one for one in experiment.methods if one.name == row.method)
    return flagged(method, row.title)


def _legend(table: Table, seeds: set[int], marks: bool) -> Iterator[str]:
    names = " / ".join(_SHORT[measure] for measure in table.measures)
    counts = sorted(seeds)
    means = f"means of {counts[0]} seeds" if len(counts) == 1 else f"means of {counts[0]} to {counts[-1]} seeds"
    yield f"{names[:1].upper()}{names[1:]} in percent, test sets, {'one seed' if counts == [1] else means}."
    if marks:
        yield "† uses word labels."
    if table.minutes:
        yield "Minutes of a training on one GPU (NVIDIA H200) which others used at the same time."


def summary_of(experiment: str) -> Any:
    """The measures of an experiment, by corpus and method."""
    return json.loads((ROOT / "experiments" / experiment / "summary.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
