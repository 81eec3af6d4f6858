"""Learning curves: what methods measure by the number of sentences they were trained on."""

from __future__ import annotations

from collections.abc import Iterator

from zerotag.evaluation.significance import mean_and_deviation
from zerotag.research.compare.cells import marked
from zerotag.research.compare.experiment import Method
from zerotag.research.compare.plot import Panel, Point, plot
from zerotag.research.compare.published import CORPUS_TITLES, best_without_word_labels
from zerotag.research.compare.results import Results

_MEASURES = {"word F1": "word_f1", "MAP": "map"}


def learning_curves(results: Results, *, label: str) -> str | None:
    """A row of panels for each measure, with one for each corpus; None where nothing is there to draw."""
    curves: dict[str, list[Method]] = {}
    for method in results.experiment.methods:
        if method.curve:
            curves.setdefault(marked(method, method.curve), []).append(method)
    rows = [
        [
            Panel(f"{CORPUS_TITLES.get(corpus, corpus)}, {title}", series, _level(corpus, measure))
            for corpus in results.experiment.corpora
            if any(series := tuple(tuple(_points(results, corpus, its, measure)) for its in curves.values()))
        ]
        for title, measure in _MEASURES.items()
    ]
    if not any(rows):
        return None
    return plot(rows, list(curves), level_name="best published without word labels, all sentences", label=label)


def _points(results: Results, corpus: str, methods: list[Method], measure: str) -> Iterator[Point]:
    """From the smallest training set to the largest."""
    percents: dict[int, list[float]] = {}
    for method in methods:
        for record in results.of(corpus, method.name).values():
            value = record.measures().get(measure)
            if value is not None and record.training is not None and record.training.sentences is not None:
                percents.setdefault(record.training.sentences, []).append(100 * value)
    for count, over_seeds in sorted(percents.items()):
        summary = mean_and_deviation(over_seeds)
        yield Point(count, summary.mean, summary.std or 0.0)


def _level(corpus: str, measure: str) -> float | None:
    best = best_without_word_labels(corpus, measure)
    return None if best is None else best[0]
