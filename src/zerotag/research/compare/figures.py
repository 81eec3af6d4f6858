"""An experiment's pictures, drawn from the files of runs alone: learning curves, and heat maps of example sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zerotag.io.model_folder import whole_file
from zerotag.render.heatmap import HeatMap, HeatRow
from zerotag.render.heatmap.drawing import draw
from zerotag.render.heatmap.svg import svg
from zerotag.research.compare.cells import flagged
from zerotag.research.compare.curves import learning_curves
from zerotag.research.compare.experiment import ExampleSentence, Run
from zerotag.research.compare.published import CORPUS_TITLES
from zerotag.research.compare.record import ExampleRecord, Record
from zerotag.research.compare.results import Results
from zerotag.types import Rule

FIGURES = "figures"


class Figure(NamedTuple):
    """A picture, the name of its file, and what it shows."""

    name: str
    caption: str
    content: str


def figures(results: Results) -> Iterator[Figure]:
    """Every figure that there are numbers for."""
    yield from curve_figures(results)
    yield from example_figures(results)


def curve_figures(results: Results) -> Iterator[Figure]:
    """One figure, if some methods are points of learning curves."""
    caption = "Word F1 and MAP by the number of training sentences"
    drawing = learning_curves(results, label=caption)
    if drawing is not None:
        yield Figure("learning-curves.svg", caption, drawing)


def example_figures(results: Results) -> Iterator[Figure]:
    """One figure for each corpus and example sentence that some finished run has scored."""
    for corpus in results.experiment.corpora:
        examples = [example for example in results.experiment.examples if corpus in example.corpora]
        for number, example in enumerate(examples, start=1):
            maps = _heat_maps(results, corpus, example)
            if maps:
                caption = f"{CORPUS_TITLES.get(corpus, corpus)}: {' '.join(example.words)}"
                yield Figure(f"{corpus}-{number}.svg", caption, svg(draw(maps), label=caption))


def write_figures(results: Results, folder: Path) -> None:
    """Write the figures into a folder of results."""
    for figure in figures(results):
        with whole_file(folder / FIGURES / figure.name) as file:
            file.write(figure.content)


def _heat_maps(results: Results, corpus: str, example: ExampleSentence) -> list[HeatMap]:
    """One for each label, with a row for each method."""
    rows: dict[str, list[HeatRow]] = {}
    for run, record in results.records.items():
        if run.corpus == corpus and not run.method.sweep:
            for scored in record.examples:
                if scored.words == list(example.words):
                    for label, row in _rows(run, record, scored):
                        rows.setdefault(label, []).append(row)
    return [HeatMap(label, example.words, tuple(its_rows), example.gold) for label, its_rows in rows.items()]


def _rows(run: Run, record: Record, scored: ExampleRecord) -> Iterator[tuple[str, HeatRow]]:
    """What a run says of a sentence, by label."""
    name = flagged(run.method)
    for k, (label, its) in enumerate(record.test["labels"].items()):
        scores = np.array(scored.word_scores, np.float32)[:, k]
        rule = Rule(word_threshold=its["rule"]["word_threshold"])  # rules of earlier records have more fields
        bounded = run.method.scorer == "native"
        yield label, HeatRow.of(name, scores, rule, within_0_and_1=bounded)
