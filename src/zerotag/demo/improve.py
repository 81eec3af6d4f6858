"""The demonstration of improving a model: suggest, correct, tune and update, before and after.

The corrections are those that a person would make: the words that are marked in the corpus.
"""

from __future__ import annotations

from importlib.resources import as_file
from typing import NamedTuple

from zerotag.active.suggest import Suggestion, suggest
from zerotag.demo import PARTS, corpus_part, measure
from zerotag.evaluation.report import Report
from zerotag.evaluation.tables import percent
from zerotag.io import read_corrected
from zerotag.labeller import WordLabeller
from zerotag.render.tables import Table
from zerotag.types import CorrectedExample


class Improved(NamedTuple):
    """What was suggested and corrected, and the model before and after."""

    suggestions: list[Suggestion]
    corrections: list[CorrectedExample]
    models: dict[str, WordLabeller]


def improve(labeller: WordLabeller, count: int = 20) -> Improved:
    """Choose training sentences to look at, take their marked words, and learn from them."""
    with as_file(corpus_part("train")) as path:
        marked = read_corrected(path, label_names=labeller.label_names).examples
    suggestions = suggest(labeller, (one.sentence for one in marked), n=count)
    corrections = [marked[one.number] for one in suggestions]
    models = {
        "before": labeller,
        "thresholds tuned": labeller.tune(corrections),
        "network updated": labeller.update(corrections),
    }
    return Improved(suggestions, corrections, models)


def comparison(improved: Improved) -> Table:
    """Word F1 and MAP of each model on the held-out parts, in percent."""
    reports: dict[str, list[Report]] = {
        name: [measure(model, part)[0] for part in PARTS] for name, model in improved.models.items()
    }
    return Table(
        caption="Words of sentences that no model has seen, against the hedge words marked by hand",
        header=("percent", *(f"{part}: {measure}" for part in PARTS for measure in ("F1", "MAP"))),
        rows=tuple(
            (name, *(percent(value) for one in of_parts for value in (one.macro.word_f1, one.macro.map)))
            for name, of_parts in reports.items()
        ),
        note=f"after word labels of {len(improved.corrections)} sentences: not zero-shot",
    )
