"""`zerotag tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.cli.options import (
    Device,
    LabelOptions,
    Method,
    Overwrite,
    loaded,
    require_absent,
)
from zerotag.errors import ZerotagError
from zerotag.text.printable import one_line

if TYPE_CHECKING:
    from zerotag.labeller import Labeller
    from zerotag.types import Corpus, CorrectedExample


def tune(
    *,
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="Model folder that `zerotag train` wrote.")],
    gold: Annotated[
        list[Path], typer.Argument(metavar="GOLD...", help="A few sentences with labels on words; 20 are a beginning.")
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for the tuned model. [MODEL_DIR itself]")] = None,
    method: Method = "native",
    labels: LabelOptions,
    device: Device = None,
    overwrite: Overwrite = False,
) -> None:
    """Choose word thresholds by a few labelled sentences.

    The threshold from sentence labels is the prior: five sentences change little, two hundred decide.
    """
    from zerotag.io import read_corrected
    from zerotag.io.model_folder import check_place, copy_folder

    if out is not None:
        require_absent(out, overwrite)
        check_place(out)
    elif method == "native" and not model.is_dir():
        raise ZerotagError(f"{model} is not a folder: name one for the tuned model with --out")
    if out is not None and method != "native":
        raise ZerotagError("--out goes with the model's own word scores: thresholds of other methods are not saved")
    labeller = loaded(model, device, method)
    columns = labels.columns(labeller.manifest.model.segmenter)
    corpus = read_corrected(gold, columns=columns, label_names=labeller.label_names)
    if method != "native":
        _tell_of_method(method, labeller, corpus)
        return
    tuned = labeller.tune(corpus)
    from zerotag.io.hub import located
    from zerotag.render.model_card import write_model_card

    copy_folder(located(model), out or model, tuned.manifest, write_model_card)
    for name, old, new in zip(tuned.label_names, labeller.rules, tuned.rules, strict=True):
        typer.echo(
            f"{out or model}: label {one_line(name)}: word threshold {old.word_threshold:.3f} -> "
            f"{new.word_threshold:.3f} ({new.origin})"
        )


def _tell_of_method(method: str, labeller: Labeller, corpus: Corpus[CorrectedExample]) -> None:
    """Which options make a method that is not the model's own the best for the labelled words."""
    from zerotag.evaluation.tuning import rules_from_word_labels, scorer_from_word_labels
    from zerotag.types import GoldExample

    gold = [GoldExample(one.sentence, one.labels, one.word_labels) for one in corpus.examples]
    scorer = scorer_from_word_labels(method, labeller, gold)
    scored = scorer.score(one.sentence for one in gold)
    rules = rules_from_word_labels(zip(gold, scored, strict=True), labeller.label_names, labeller.rules)
    for name, rule in zip(labeller.label_names, rules, strict=True):
        typer.echo(
            f"label {one_line(name)}: --method {scorer.name} --threshold {rule.word_threshold:.4g} "
            f"is best for the word labels of {len(gold):,} sentences"
        )
