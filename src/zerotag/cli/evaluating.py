"""`zerotag evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.cli.options import (
    Device,
    InputFormat,
    LabelColumns,
    Method,
    Negative,
    Overwrite,
    TextColumn,
    Threshold,
    columns,
    loaded,
    require_absent,
    require_no_input,
)
from zerotag.cli.tables import show_table
from zerotag.errors import ZerotagError

if TYPE_CHECKING:
    from zerotag.labeller import Labeller, WordLabeller
    from zerotag.types import Scored


def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="Model folder that `zerotag train` wrote.")],
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Sentences with labels, on words if word scores are to be measured.")
    ],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write every measure to this file.")] = None,
    method: Method = "native",
    threshold: Threshold = None,
    faithfulness: Annotated[
        bool, typer.Option("--faithfulness", help="Also measure whether the model relies on the words it scores high.")
    ] = False,
    text_column: TextColumn = "text",
    label_column: LabelColumns = None,
    negative: Negative = None,
    input_format: InputFormat = None,
    device: Device = None,
    overwrite: Overwrite = False,
) -> None:
    """Measure a model against labelled sentences.

    Precision, recall and F1 of sentences and of words, and mean average precision of the word scores.
    """
    require_absent(json_file, overwrite)
    require_no_input(json_file, [gold], "--json")
    from zerotag.data import read_gold
    from zerotag.evaluate import evaluate as measure
    from zerotag.render.tables import score_table
    from zerotag.scorers import create

    labeller = loaded(model, device, method, threshold)
    masked = _able_to_mask(labeller) if faithfulness else None
    scorer = create(method, labeller)
    chosen_columns = columns(text_column, label_column, negative, input_format)
    examples = read_gold(gold, columns=chosen_columns, label_names=labeller.label_names).examples
    scored = list(scorer.score(example.sentence for example in examples))
    report = measure(zip(examples, scored, strict=True), labeller.label_names, labeller.rules)
    if method == "random":
        report = report.without_sentence_measures()
    faithful = {} if masked is None else _faithfulness(masked, scored)
    try:
        if json_file is not None:
            _write_json(report.to_json() | faithful, json_file)
    finally:  # what took so long to find out is shown also if it cannot be written
        show_table(score_table(report, f"{model} on {gold}" + ("" if method == "native" else f", {scorer.name}")))
        if faithfulness:
            typer.echo(_faithfulness_line(faithful))


def _write_json(document: Mapping[str, object], path: Path) -> None:
    import json

    from zerotag.storage import whole_file

    with whole_file(path) as file:
        file.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _able_to_mask(labeller: Labeller) -> WordLabeller:
    """The labeller, if it can be asked about sentences in which words are hidden."""
    from zerotag.labeller import WordLabeller

    if not isinstance(labeller, WordLabeller):
        raise ZerotagError("--faithfulness needs the model folder that was trained, not what was exported from it")
    if labeller.tokenizer.mask_token_id is None:
        raise ZerotagError("--faithfulness hides words behind a mask token, and this model's tokenizer has none")
    return labeller


def _faithfulness(labeller: WordLabeller, scored: Sequence[Scored]) -> dict[str, float]:
    from zerotag.faithfulness import faithfulness

    return faithfulness(labeller, scored)


def _faithfulness_line(found: Mapping[str, float]) -> str:
    if not found:
        return "faithfulness: the model calls no sentence positive"
    return (
        f"faithfulness: comprehensiveness {found['comprehensiveness']:.3f} (higher is better), sufficiency "
        f"{found['sufficiency']:.3f} (lower is better), over sentences that the model calls positive"
    )
