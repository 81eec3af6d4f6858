"""The demonstration of improving a model: suggest, correct, tune and update, before and after.

Sentences are suggested from new texts, as those that a model will meet: one half of the held-out parts. The models are
measured on the other half. Corrections are those that a person would make: the words that are marked in the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file
from typing import NamedTuple

from zerotag.active.suggest import Suggestion, suggest
from zerotag.demo import PARTS, corpus_part
from zerotag.evaluation.report import Report
from zerotag.evaluation.tables import percent
from zerotag.io import read_gold
from zerotag.io.reading import corrected
from zerotag.labeller import WordLabeller
from zerotag.render.tables import Table
from zerotag.types import Corpus, CorrectedExample, GoldExample


class Improved(NamedTuple):
    """What was suggested and corrected, and the model before and after."""

    suggestions: list[Suggestion]
    corrections: list[CorrectedExample]
    models: dict[str, WordLabeller]


def improve(labeller: WordLabeller, count: int = 20) -> Improved:
    """Choose new sentences to look at, take their marked words, and learn from them."""
    marked = [one for part in PARTS for one in to_suggest(_gold(labeller, part))]
    suggestions = suggest(labeller, (one.sentence for one in marked), n=count)
    corrections = [corrected(marked[one.number]) for one in suggestions]
    models = {
        "before": labeller,
        "thresholds tuned": labeller.tune(corrections),
        "network updated": labeller.update(corrections),
    }
    return Improved(suggestions, corrections, models)


def to_suggest(examples: Sequence[GoldExample]) -> Sequence[GoldExample]:
    """The half of a held-out part from which sentences are suggested."""
    return examples[::2]


def to_measure(examples: Sequence[GoldExample]) -> Sequence[GoldExample]:
    """The other half, on which models are measured."""
    return examples[1::2]


def _gold(labeller: WordLabeller, part: str) -> Sequence[GoldExample]:
    with as_file(corpus_part(part)) as path:
        return read_gold(path, label_names=labeller.label_names).examples


def comparison(improved: Improved) -> Table:
    """Word F1 and MAP of each model on the held-out parts, in percent."""
    reports: dict[str, list[Report]] = {
        name: [model.evaluate(Corpus(model.label_names, tuple(to_measure(_gold(model, part))))) for part in PARTS]
        for name, model in improved.models.items()
    }
    return Table(
        caption="Words of the other half of the new sentences, against the hedge words marked by hand",
        header=("percent", *(f"{part}: {measure}" for part in PARTS for measure in ("F1", "MAP"))),
        rows=tuple(
            (name, *(percent(value) for one in of_parts for value in (one.macro.word_f1, one.macro.map)))
            for name, of_parts in reports.items()
        ),
        note=f"after word labels of {len(improved.corrections)} sentences: not zero-shot",
    )
