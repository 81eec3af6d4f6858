"""`zerotag evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.cli.options import (
    Device,
    InputFormat,
    LabelColumns,
    LabelNames,
    Method,
    Negative,
    Overwrite,
    TextColumn,
    Threshold,
    columns,
    loaded,
    require_absent,
    require_no_input,
    say,
)
from zerotag.cli.tables import show_table
from zerotag.errors import ZerotagError
from zerotag.render.progress import LiveBar, duration

if TYPE_CHECKING:
    from zerotag.explain import Scorer
    from zerotag.labeller import Labeller, WordLabeller
    from zerotag.research.compare.record import Cost
    from zerotag.types import GoldExample, Scored


def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="Model folder that `zerotag train` wrote.")],
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Sentences with labels, on words if word scores are to be measured.")
    ],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write every measure to this file.")] = None,
    method: Method = "native",
    threshold: Threshold = None,
    tune_on: Annotated[
        Path | None,
        typer.Option(help="Sentences with labels on words, which choose thresholds, and the head of --method heads."),
    ] = None,
    faithfulness: Annotated[
        bool, typer.Option("--faithfulness", help="Also measure whether the model relies on the words it scores high.")
    ] = False,
    text_column: TextColumn = "text",
    label_column: LabelColumns = None,
    negative: Negative = None,
    input_format: InputFormat = None,
    label_names: LabelNames = None,
    device: Device = None,
    overwrite: Overwrite = False,
) -> None:
    """Measure a model against labelled sentences.

    Precision, recall and F1 of sentences and of words, and mean average precision of the word scores.
    """
    require_absent(json_file, overwrite)
    require_no_input(json_file, [gold] if tune_on is None else [gold, tune_on], "--json")
    if tune_on is not None and threshold is not None:
        raise ZerotagError("--tune-on chooses the threshold that --threshold gives: leave one of them out")
    from zerotag.evaluation.report import evaluate as measure
    from zerotag.evaluation.tables import class_table, score_table
    from zerotag.explain import create, spec_of
    from zerotag.io import read_gold

    labeller = loaded(model, device, method, threshold)
    masked = _able_to_mask(labeller) if faithfulness else None
    chosen_columns = columns(
        text_column,
        label_column,
        negative,
        input_format,
        label_names=label_names,
        segmenter=labeller.manifest.model.segmenter,
    )
    examples = read_gold(gold, columns=chosen_columns, label_names=labeller.label_names).examples
    if tune_on is None:
        scorer = create(method, labeller)
    else:
        dev = read_gold(tune_on, columns=chosen_columns, label_names=labeller.label_names).examples
        scorer, labeller = _tuned(method, labeller, dev, tune_on)
    scored, cost = _scored(scorer, examples, "measuring")
    report = measure(zip(examples, scored, strict=True), labeller.label_names, labeller.rules)
    if not spec_of(method).scores_sentences:
        report = report.without_sentence_measures()
    faithful = {} if masked is None else _faithfulness(masked, scored)
    try:
        if json_file is not None:
            _write_json(report.to_json() | faithful | {"cost": asdict(cost)}, json_file)
    finally:  # what took so long to find out is shown also if it cannot be written
        show_table(score_table(report, f"{model} on {gold}" + ("" if method == "native" else f", {scorer.name}")))
        if report.classes is not None:
            show_table(class_table(report.classes))
        took, passes = cost.seconds_per_1000, cost.passes_per_1000
        typer.echo(f"per 1,000 sentences: {took:,.1f} s, {passes:,.0f} forward passes")
        if labeller.manifest.word_labels:
            typer.echo(f"not zero-shot: the model learnt from {labeller.manifest.supervision}")
        if faithfulness:
            typer.echo(_faithfulness_line(faithful))


def _scored(scorer: Scorer, examples: Sequence[GoldExample], doing: str) -> tuple[list[Scored], Cost]:
    """The scores of all sentences; how far they have come is shown meanwhile."""
    from zerotag.research.compare.record import Cost

    scored: list[Scored] = []
    start, passes = monotonic(), scorer.passes
    with LiveBar(say, transient=True) as bar:
        for one in scorer.score(example.sentence for example in examples):
            scored.append(one)
            left = (monotonic() - start) * (len(examples) / len(scored) - 1)
            words = f"{doing}: {len(scored):,} of {len(examples):,} sentences · {duration(left)} left"
            if bar.live:
                bar.draw(words, len(scored), len(examples))
            elif bar.silent_for_long:
                bar.say(words)
    return scored, Cost.of(monotonic() - start, scorer.passes - passes, len(examples))


def _tuned(method: str, labeller: Labeller, dev: Sequence[GoldExample], source: Path) -> tuple[Scorer, Labeller]:
    """The scorer, and the labeller with the thresholds, that labelled words choose."""
    from zerotag.evaluation.tuning import rules_from_word_labels, scorer_from_word_labels

    labelled = [example for example in dev if example.word_labels is not None]
    if not labelled:
        raise ZerotagError(f"{source} has no labels on words, by which --tune-on would choose")
    scorer = scorer_from_word_labels(method, labeller, labelled)
    scored, _ = _scored(scorer, labelled, "choosing the threshold")
    rules = rules_from_word_labels(zip(labelled, scored, strict=True), labeller.label_names, labeller.rules)
    return scorer, labeller.with_rules(rules)


def _write_json(document: Mapping[str, object], path: Path) -> None:
    import json

    from zerotag.io.files import whole_file

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
    from zerotag.evaluation.faithfulness import faithfulness

    return faithfulness(labeller, scored)


def _faithfulness_line(found: Mapping[str, float]) -> str:
    if not found:
        return "faithfulness: the model calls no sentence positive"
    return (
        f"faithfulness: comprehensiveness {found['comprehensiveness']:.3f} (higher is better), sufficiency "
        f"{found['sufficiency']:.3f} (lower is better), over sentences that the model calls positive"
    )
