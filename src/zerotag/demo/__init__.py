"""The demonstration: a small corpus of hedged and plain sentences, trained on, measured and shown.

The sentences were written for zerotag, in many domains. Hedge words are marked for evaluation only. The part `test` has
new sentences with hedges of the kinds seen in training; `unseen` has none of those, and sentence frames of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from zerotag.decisions import decide
from zerotag.evaluation.report import Report, evaluate
from zerotag.evaluation.tables import score_table
from zerotag.io import read, read_gold
from zerotag.io.files import whole_file
from zerotag.io.writers.style import Style
from zerotag.render.html import Paragraph, Section, Sentences, report
from zerotag.types import Labelled

if TYPE_CHECKING:
    import torch

    from zerotag.labeller import Labeller, WordLabeller
    from zerotag.training.recipe import Progress

PARTS: Mapping[str, str] = {
    "test": "New sentences, hedges of the kinds seen in training",
    "unseen": "New sentences, hedges and sentence frames never seen in training",
}
Measured = Mapping[str, tuple[Report, list[Labelled]]]


def train(*, device: str | torch.device | None, on_progress: Callable[[Progress], None]) -> WordLabeller:
    """Train on the sentence labels of the demonstration corpus."""
    from zerotag.training.recipe import train as train_labeller

    with as_file(corpus_part("train")) as path:
        corpus = read(path)
    return train_labeller(corpus, device=device, on_progress=on_progress)


def measure(labeller: Labeller, part: str) -> tuple[Report, list[Labelled]]:
    """Label a held-out part and measure the result against the marked words."""
    with as_file(corpus_part(part)) as path:
        examples = read_gold(path, label_names=labeller.label_names).examples
    scored = list(labeller.score(example.sentence for example in examples))
    measures = evaluate(zip(examples, scored, strict=True), labeller.label_names, labeller.rules)
    return measures, [decide(one, labeller.label_names, labeller.rules) for one in scored]


def write_report(path: Path, measured: Measured, style: Style) -> Path:
    """Write the HTML page with the scores and the shaded sentences of all held-out parts."""
    sections: list[Section] = [
        Paragraph(
            "A model was trained to tell hedged sentences from plain ones. It was never told which words hedge, "
            "and marks them all the same. These sentences were not used in training."
        )
    ]
    for part, (measures, results) in measured.items():
        sections += [score_table(measures, f"{PARTS[part]}: scores"), Sentences(results, PARTS[part])]
    with whole_file(path) as file:
        file.writelines(report(sections, style))
    return path


def corpus_part(part: str) -> Path:
    """The file of a part of the corpus."""
    # `files` gives a Traversable; as_file() in the callers makes it a real path even inside a zip.
    return files(__package__).joinpath(f"hedging.{part}.jsonl")  # type: ignore[return-value]
