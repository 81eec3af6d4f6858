"""What 8 bits cost and save: word F1, MAP and size of an exported int8 model beside the torch model it was made of.

    python benchmarks/quantised.py                              # the demonstration corpus, 2 minutes on two cores
    ZEROTAG_DATA=FOLDER python benchmarks/quantised.py          # and CoNLL-2010: 2,000 training sentences, all of dev

Losses are in points, and may be negative: a score that moves across the threshold can move the right way.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path

from results_file import command_line, row, write_results

from zerotag import demo, load
from zerotag.config import ModelConfig, TrainConfig
from zerotag.evaluation.report import Report, evaluate
from zerotag.inference.onnx_export import export
from zerotag.io import read_gold
from zerotag.labeller import Labeller, WordLabeller
from zerotag.research.compare.corpora import drawn, released
from zerotag.research.corpora import CORPORA
from zerotag.training.recipe import train
from zerotag.types import Corpus, Example, GoldExample

SENTENCES = 2_000  # of CoNLL-2010 to train on
TARGET = "< 0.3 points"
SMALL = "≤ 25 MB"

Parts = dict[str, Callable[[Labeller], Report]]
"""What to try a labeller on, by name."""


def demonstration() -> tuple[WordLabeller, Parts]:
    """A model of the demonstration corpus, and what to try it on."""
    names = {"test": "demonstration", "unseen": "demonstration, unseen hedges"}
    labeller = demo.train(device=None, on_progress=lambda _: None)
    return labeller, {name: lambda one, part=part: demo.measure(one, part)[0] for part, name in names.items()}


def conll2010(folder: Path) -> tuple[WordLabeller, Parts]:
    """A model of some of CoNLL-2010, and its development set."""
    splits = released(CORPORA["conll2010"], folder)
    labeller = train(drawn(splits.train, SENTENCES, seed=1))  # it is calibrated on a part of these, not on dev
    return labeller, {"CoNLL-2010 development set": partial(measured, splits.dev_with_word_labels)}


def compared(labeller: WordLabeller, parts: Parts) -> Iterator[dict[str, object]]:
    """Rows with what is lost, in points."""
    with tempfile.TemporaryDirectory() as scratch:
        labeller.save_pretrained(Path(scratch, "model"))
        export(labeller, Path(scratch, "int8"), int8=True)
        small = load(Path(scratch, "int8"))
        before, after = (megabytes(Path(scratch, name)) for name in ("model", "int8"))
        yield row(f"MB of the model folder, {next(iter(parts))}", before, after, SMALL)
        for name, measure_on in parts.items():
            full, quantised = measure_on(labeller).macro, measure_on(small).macro
            for measure in ("word_f1", "map"):
                before, after = (100 * getattr(one, measure) for one in (full, quantised))
                what = f"{'MAP' if measure == 'map' else 'word F1'} lost, {name}: {before:.2f} in full precision"
                yield row(what, None, before - after, TARGET)


def megabytes(folder: Path) -> float:
    """All files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*")) / 1e6


def measured(part: Corpus[GoldExample], labeller: Labeller) -> Report:
    """How well it does."""
    scored = labeller.score(example.sentence for example in part.examples)
    return evaluate(zip(part.examples, scored, strict=True), labeller.label_names, labeller.rules)


def miniature() -> tuple[WordLabeller, Parts]:
    """A model that has hardly learned anything, and a few sentences."""
    gold = read_gold(str(files("zerotag.demo").joinpath("hedging.test.jsonl")))
    few = replace(gold, examples=gold.examples[:8])
    examples = tuple(Example(one.sentence, one.labels) for one in gold.examples[:16])
    training = TrainConfig(epochs=1, teacher_epochs=0)
    labeller = train(Corpus(gold.label_names, examples), model=ModelConfig(depth=1), training=training)
    return labeller, {"a miniature": partial(measured, few)}


def main() -> None:
    """Train, export, evaluate, print, write the results."""
    options = command_line(__doc__).parse_args()
    rows = [*compared(*(miniature() if options.quick else demonstration()))]
    data = os.environ.get("ZEROTAG_DATA")
    if data and not options.quick:
        rows += compared(*conll2010(Path(data, "conll2010")))
    write_results("quantised", rows, folder=options.out)


if __name__ == "__main__":
    main()
