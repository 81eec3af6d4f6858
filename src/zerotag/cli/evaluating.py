"""`zerotag evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
)
from zerotag.cli.tables import show_table


def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="Model folder that `zerotag train` wrote.")],
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Sentences with labels, on words if word scores are to be measured.")
    ],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write every measure to this file.")] = None,
    method: Method = "native",
    threshold: Threshold = None,
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
    from zerotag.data import read_gold
    from zerotag.evaluate import evaluate as measure
    from zerotag.render.tables import score_table
    from zerotag.scorers import create

    labeller = loaded(model, device, threshold)
    scorer = create(method, labeller)
    chosen_columns = columns(text_column, label_column, negative, input_format)
    examples = read_gold(gold, columns=chosen_columns, label_names=labeller.label_names).examples
    scored = scorer.score(example.sentence for example in examples)
    report = measure(zip(examples, scored, strict=True), labeller.label_names, labeller.rules)
    if json_file is not None:
        import json

        from zerotag.storage import whole_file

        with whole_file(json_file) as file:
            file.write(json.dumps(report.to_json(), indent=2, ensure_ascii=False) + "\n")
    show_table(score_table(report, f"{model} on {gold}" + ("" if method == "native" else f", {scorer.name}")))
