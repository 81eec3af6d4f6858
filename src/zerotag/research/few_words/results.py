"""What the pieces of the learning curves have measured, in one file, and as tables and a plot."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zerotag.evaluation.significance import mean_and_deviation
from zerotag.io.files import whole_file
from zerotag.research.compare.plot import Panel, Point, plot
from zerotag.research.compare.published import CORPUS_TITLES
from zerotag.research.few_words.cells import METHODS, ZERO_SHOT
from zerotag.research.few_words.plan import Plan

SERIES = {"tune": "thresholds", "refit": "last layer", "both": "joint training", "alone": "those word labels alone"}
Found = Mapping[str, Any]


def write_results(plan: Plan, out: Path) -> None:
    """Put all measures into results.json; tables and the plot are made of that file alone."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(out.glob("*-*.json"))}
    document = {
        "encoder": plan.encoder,
        "seeds": plan.seeds,
        "sentences": plan.sentences,
        "corpora": list(plan.corpora),
        "parts": plan.corpora,
        "made": _made([one["made"] for one in found.values()]),
        "cells": [_cell(one) for one in found.values() if "method" in one],
        **{kind: _of_kind(found, kind) for kind in ("tuning", "suggestions", "flips")},
    }
    with whole_file(out / "results.json") as file:
        file.write(json.dumps(document, indent=1) + "\n")
    with whole_file(out / "results.md") as file:
        file.writelines(tables(document))
    with whole_file(out / "curves.svg") as file:
        file.write(curves(document))


def _cell(one: Found) -> dict[str, object]:
    names = ("corpus", "seed", "method", "sentences", "word_labels")
    return {name: one[name] for name in names} | {name: round(one["macro"][name], 5) for name in _MEASURES}


_MEASURES = ("word_f1", "map", "sentence_f1")


def _of_kind(found: Mapping[str, Found], kind: str) -> dict[str, Found]:
    return {
        name.replace(f"-{kind}", ""): {key: value for key, value in one.items() if key != "made"}
        for name, one in found.items()
        if re.search(rf"-\d+-{kind}", name)
    }


def _made(every: Sequence[Found]) -> Found:
    """By which code, with which versions, on what and when the pieces were made."""
    dates = sorted(one["date"] for one in every)
    return {
        "commits": sorted({str(one["commit"]) for one in every}),
        "versions": sorted({f"{name} {number}" for one in every for name, number in one["versions"].items()}),
        "devices": sorted({one["device"] for one in every}),
        "from": dates[0] if dates else None,
        "to": dates[-1] if dates else None,
    }


def tables(document: Found) -> Iterator[str]:
    """Markdown: the curves, and what was drawn and flipped, in percent."""
    yield f"# A few labelled words: {document['encoder']}\n\n"
    yield f"Means over {len(document['seeds'])} seeds; in brackets how many have run, where not all have.\n\n"
    yield "![Word F1 by the number of sentences whose words are labelled](curves.svg)\n\n"
    yield from _table("word F1 / MAP", document["corpora"], _curve_rows(document))
    yield from _table("tune: word F1", document["corpora"], _tuning_rows(document))
    yield from _table("suggested − random: word F1", document["corpora"], _suggestion_rows(document))
    yield from _table("flipped labels: precision", document["corpora"], _flip_rows(document))


Row = tuple[str, list[str]]
_NOT_RUN = "–"


def _table(title: str, corpora: Sequence[str], rows: Iterator[Row]) -> Iterator[str]:
    lines = [(name, values) for name, values in rows if any(value != _NOT_RUN for value in values)]
    if lines:
        names = [title, *(CORPUS_TITLES.get(one, one) for one in corpora)]
        yield f"| {' | '.join(names)} |\n|{'---|' * len(names)}\n"
        yield from (f"| {name} | {' | '.join(values)} |\n" for name, values in lines)
        yield "\n"


def _curve_rows(document: Found) -> Iterator[Row]:
    for method, count in [(ZERO_SHOT, 0), *((method, n) for n in document["sentences"] for method in METHODS)]:
        name = method if method == ZERO_SHOT else f"{method}, {count or 'all'}"
        yield name, [_mean_of(document, corpus, method, count) for corpus in document["corpora"]]


def _mean_of(document: Found, corpus: str, method: str, count: int) -> str:
    found = _values(document, corpus, method, count)
    if not found:
        return _NOT_RUN
    f1, precision = np.mean(np.array(found, np.float64), axis=0)
    return f"{100 * f1:.1f} / {100 * precision:.1f}{'' if len(found) == len(document['seeds']) else f' ({len(found)})'}"


def _values(document: Found, corpus: str, method: str, count: int) -> list[tuple[float, float]]:
    return [
        (one["word_f1"], one["map"])
        for one in document["cells"]
        if (one["corpus"], one["method"], one["sentences"]) == (corpus, method, count)
    ]


def _over_seeds(document: Found, kind: str, corpus: str, end: str = "") -> list[Found]:
    return [one for name, one in document[kind].items() if re.fullmatch(rf"{corpus}-\d+{re.escape(end)}", name)]


def _tuning_rows(document: Found) -> Iterator[Row]:
    every: Found = next(iter(document["tuning"].values()), {})
    for key in every:
        yield (
            key if not key.isdigit() else f"{key} sentences",
            [
                _percent([float(np.mean(one[key])) for one in _over_seeds(document, "tuning", corpus)])
                for corpus in document["corpora"]
            ],
        )


def _suggestion_rows(document: Found) -> Iterator[Row]:
    every: Found = next(iter(document["suggestions"].values()), {})
    for key in filter(str.isdigit, every):
        yield f"{key} sentences", [_gain(document, corpus, key) for corpus in document["corpora"]]


def _gain(document: Found, corpus: str, key: str) -> str:
    found = [one[key] for one in _over_seeds(document, "suggestions", corpus)]
    if not found:
        return _NOT_RUN
    low, high = np.mean([one["interval"] for one in found], axis=0)
    return f"{100 * np.mean([one['gain'] for one in found]):+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def _flip_rows(document: Found) -> Iterator[Row]:
    ends = sorted({re.sub(r"^.*-\d+(?=-)", "", name) for name in document["flips"]})
    for end in ends:
        every = next(one for name, one in document["flips"].items() if name.endswith(end))
        for method in (key for key in every if key != "flipped"):
            yield (
                f"{float(end[1:]):.0%}, {method}",
                [
                    _percent([one[method] for one in _over_seeds(document, "flips", corpus, end) if method in one])
                    for corpus in document["corpora"]
                ],
            )


def _percent(values: Sequence[float]) -> str:
    return f"{100 * np.mean(values):.1f}" if values else _NOT_RUN


def curves(document: Found) -> str:
    """An SVG with a panel for each corpus: word F1 by the number of sentences with word labels."""
    panels = [
        Panel(
            CORPUS_TITLES.get(corpus, corpus),
            tuple(tuple(_points(document, corpus, method)) for method in SERIES),
            _level(document, corpus),
        )
        for corpus in document["corpora"]
        if any(True for method in SERIES for _ in _points(document, corpus, method))
    ]
    rows = [panels[start : start + _ACROSS] for start in range(0, len(panels), _ACROSS)]
    label = "Word F1 by the number of sentences whose words are labelled"
    return plot(rows, list(SERIES.values()), level_name="sentence labels alone", label=label) if rows else ""


_ACROSS = 3


def _points(document: Found, corpus: str, method: str) -> Iterator[Point]:
    sizes = {
        (one["sentences"], one["word_labels"])
        for one in document["cells"]
        if (one["corpus"], one["method"]) == (corpus, method)
    }
    for count, labelled in sorted(sizes, key=lambda pair: pair[1]):
        summary = mean_and_deviation([100 * f1 for f1, _ in _values(document, corpus, method, count)])
        yield Point(labelled, summary.mean, summary.std or 0.0)


def _level(document: Found, corpus: str) -> float | None:
    found = _values(document, corpus, ZERO_SHOT, 0)
    return 100 * float(np.mean([f1 for f1, _ in found])) if found else None
