"""`zerotag evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from zerotag.cli.options import (
    Device,
    LabelOptions,
    Method,
    Overwrite,
    Threshold,
    loaded,
    require_absent,
    require_no_input,
    say,
    told_apart,
)
from zerotag.cli.tables import show_table
from zerotag.errors import ZerotagError
from zerotag.render.progress import LiveBar, duration

if TYPE_CHECKING:
    from zerotag.evaluation.cost import Cost
    from zerotag.evaluation.report import Report
    from zerotag.explain import Scorer
    from zerotag.labeller import Labeller, WordLabeller
    from zerotag.types import Corpus, GoldExample, Scored


def evaluate(
    *,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="[MODEL_DIR] GOLD",
            help="A model folder, which may be left out if there are --scores, and sentences with labels, on words if "
            "word scores are to be measured.",
            show_default=False,
        ),
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
    scores: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Measure what another tool says of the sentences of GOLD, too: JSON lines or a .tsv with a score for "
            "each word; may be repeated.",
        ),
    ] = None,
    labels: LabelOptions,
    device: Device = None,
    overwrite: Overwrite = False,
) -> None:
    """Measure a model, or another tool, on labelled sentences.

    Precision, recall and F1 of sentences and of words, and mean average precision of the word scores.
    """
    model, gold = _model_and_gold(paths, scores)
    require_absent(json_file, overwrite)
    require_no_input(json_file, [gold, *(scores or ()), *([] if tune_on is None else [tune_on])], "--json")
    if tune_on is not None and scores:
        raise ZerotagError("--tune-on needs scores of other sentences, which --scores does not have: leave it out")
    if tune_on is not None and threshold is not None:
        raise ZerotagError("--tune-on chooses the threshold that --threshold gives: leave one of them out")
    if faithfulness and model is None:
        raise ZerotagError("--faithfulness asks a model, and there is none: give a model folder before the sentences")
    from zerotag.evaluation.tables import class_table, score_table, side_by_side
    from zerotag.explain import create, spec_of
    from zerotag.io import read_gold
    from zerotag.text.segmentation import DEFAULT

    labeller = None if model is None else loaded(model, device, method, threshold)
    masked = _able_to_mask(labeller) if labeller is not None and faithfulness else None
    columns = labels.columns(DEFAULT if labeller is None else labeller.manifest.model.segmenter)
    corpus = read_gold(gold, columns=columns, label_names=labeller.label_names if labeller else None)
    files = scores or []
    own_name, *names = told_apart([model or Path(), *files])
    reports = {name: _of_file(file, corpus, threshold) for name, file in zip(names, files, strict=True)}
    document: dict[str, object] = {"scores": {name: one.to_json() for name, one in reports.items()}} if reports else {}
    lines: list[str] = []
    table, classes = side_by_side(reports, str(gold)), None
    if labeller is not None:
        if tune_on is None:
            scorer = create(method, labeller)
        else:
            dev = read_gold(tune_on, columns=columns, label_names=labeller.label_names).examples
            scorer, labeller = _tuned(method, labeller, dev, tune_on)
        of_model = _of_model(
            scorer, labeller, corpus.examples, masked, scores_sentences=spec_of(method).scores_sentences
        )
        document, lines, classes = of_model.document | document, of_model.lines, of_model.report.classes
        by = "" if method == "native" else f", {scorer.name}"
        table = score_table(of_model.report, f"{model} on {gold}{by}")
        if reports:
            table = side_by_side({f"{own_name}{by}": of_model.report, **reports}, str(gold))
    try:
        if json_file is not None:
            _write_json(document, json_file)
    finally:  # what took so long to find out is shown also if it cannot be written
        show_table(table)
        if classes is not None:
            show_table(class_table(classes))
        for line in lines:
            typer.echo(line)


class _OfModel(NamedTuple):
    """What was measured of a model: for the table, for JSON, and in words."""

    report: Report
    document: dict[str, object]
    lines: list[str]


def _of_model(
    scorer: Scorer,
    labeller: Labeller,
    examples: Sequence[GoldExample],
    masked: WordLabeller | None,
    *,
    scores_sentences: bool,
) -> _OfModel:
    from zerotag.evaluation.report import evaluate as measure

    scored, cost = _scored(scorer, examples, "measuring")
    report = measure(zip(examples, scored, strict=True), labeller.label_names, labeller.rules)
    if not scores_sentences:
        report = report.without_sentence_measures()
    lines = [f"per 1,000 sentences: {cost.seconds_per_1000:,.1f} s, {cost.passes_per_1000:,.0f} forward passes"]
    if labeller.manifest.word_labels:
        lines.append(f"not zero-shot: the model learnt from {labeller.manifest.supervision}")
    faithful: dict[str, float] = {}
    if masked is not None:
        from zerotag.evaluation.faithfulness import faithfulness  # here, as exported models need no torch

        faithful = faithfulness(masked, scored)
        lines.append(_faithfulness_line(faithful))
    return _OfModel(report, report.to_json() | faithful | {"cost": asdict(cost)}, lines)


def _model_and_gold(paths: Sequence[Path], scores: Sequence[Path] | None) -> tuple[Path | None, Path]:
    match paths:
        case [model, gold]:
            return model, gold
        case [gold] if scores:
            return None, gold
        case [one]:
            raise ZerotagError(f"{one} is one path: give a model folder and the sentences to measure it on")
    raise ZerotagError(f"{len(paths)} paths: give a model folder and one file of sentences to measure it on")


def _of_file(file: Path, corpus: Corpus[GoldExample], threshold: float | None) -> Report:
    """The measures of scores that another tool wrote."""
    from zerotag.evaluation.report import evaluate as measure
    from zerotag.io.scores import read_scores
    from zerotag.types import Rule

    found = read_scores(file, [example.sentence for example in corpus.examples], corpus.label_names)
    rule = Rule() if threshold is None else Rule(word_threshold=threshold, origin="given")
    pairs = zip(corpus.examples, found.scored, strict=True)
    report = measure(pairs, corpus.label_names, (rule,) * len(corpus.label_names))
    return report if found.of_sentences else report.without_sentence_measures()


def _scored(scorer: Scorer, examples: Sequence[GoldExample], doing: str) -> tuple[list[Scored], Cost]:
    """The scores of all sentences; how far they have come is shown meanwhile."""
    from zerotag.evaluation.cost import Cost

    scored: list[Scored] = []
    start, passes = monotonic(), scorer.passes
    with LiveBar(say, transient=True) as bar:
        for one in scorer.score(example.sentence for example in examples):
            scored.append(one)
            left = (monotonic() - start) * (len(examples) / len(scored) - 1)
            words = f"{doing}: {len(scored):,} of {len(examples):,} sentences · {duration(left)} left"
            bar.show_or_say(words, len(scored), len(examples))
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


def _faithfulness_line(found: Mapping[str, float]) -> str:
    if not found:
        return "faithfulness: the model calls no sentence positive"
    return (
        f"faithfulness: comprehensiveness {found['comprehensiveness']:.3f} (higher is better), sufficiency "
        f"{found['sufficiency']:.3f} (lower is better), over sentences that the model calls positive"
    )
