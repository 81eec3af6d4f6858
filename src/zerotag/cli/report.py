"""`zerotag report`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
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
from zerotag.render.progress import LiveBar

if TYPE_CHECKING:
    from zerotag.evaluation.corpus_report import Measured
    from zerotag.evaluation.lexicon import LabelledCorpus
    from zerotag.labeller import Labeller
    from zerotag.types import GoldExample, Labelled, Scored

SUFFIXES = (".html", ".json", ".svg")


def report(
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="Model folder that `zerotag train` wrote.")],
    source: Annotated[Path, typer.Argument(metavar="FILE", help="Texts, in any format that `zerotag label` reads.")],
    out: Annotated[
        Path | None,
        typer.Option(help="File to write: .html with a concordance and plots, .json, or .svg. [the terminal]"),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Words to show of each label; .json has all.")] = 20,
    labelled: Annotated[
        bool,
        typer.Option("--labelled", help="FILE has labels, on sentences or on words, too: measure the model by them."),
    ] = False,
    method: Method = "native",
    threshold: Threshold = None,
    text_column: TextColumn = "text",
    label_column: LabelColumns = None,
    negative: Negative = None,
    input_format: InputFormat = None,
    label_names: LabelNames = None,
    device: Device = None,
    overwrite: Overwrite = False,
) -> None:
    """Show which words carry each label in a corpus, and how often."""
    require_absent(out, overwrite)
    require_no_input(out, [source], "--out")
    if out is not None and out.suffix.lower() not in SUFFIXES:
        raise ZerotagError(f"{out} does not end in {', '.join(SUFFIXES)}: choose another name")
    from zerotag.decisions import decide
    from zerotag.evaluation.lexicon import labelled_corpus
    from zerotag.io import read_gold, stream

    labeller = loaded(model, device, method, threshold)
    chosen = columns(
        text_column,
        label_column,
        negative,
        input_format,
        label_names=label_names,
        segmenter=labeller.manifest.model.segmenter,
    )
    gold: Sequence[GoldExample] = ()
    if labelled:
        gold = read_gold(source, columns=chosen, label_names=labeller.label_names).examples
    sentences = (one.sentence for one in gold) if labelled else stream(source, columns=chosen)
    kept: list[Scored] = []  # only what is measured

    def results() -> Iterator[Labelled]:
        for scored in labeller.score(sentences, method=method):
            if labelled:
                kept.append(scored)
            yield decide(scored, labeller.label_names, labeller.rules)

    corpus = labelled_corpus(_counted(results()), labeller.label_names, labeller.rules)
    if not corpus.sentences:
        raise ZerotagError(f"{source}: no sentences in it; give a file that has some")
    measured = _measured(labeller, gold, kept, source)
    if out is not None:
        _write(out, corpus, measured, labeller, f"{model.resolve().name} on {source.name}", top)
        return
    from zerotag.evaluation.corpus_report import word_tables

    for table in (*word_tables(corpus, top), *measured.tables()):
        show_table(table)


def _counted(results: Iterable[Labelled]) -> Iterator[Labelled]:
    with LiveBar(say, transient=True) as bar:
        for done, result in enumerate(results, start=1):
            yield result
            words = f"labelling: {done:,} sentences"
            if bar.live:
                bar.draw(words, done, None)
            elif bar.silent_for_long:
                bar.say(words)


def _measured(labeller: Labeller, gold: Sequence[GoldExample], scored: Sequence[Scored], source: Path) -> Measured:
    """How good the labels are, by those of the file; else what is known from the training."""
    from zerotag.evaluation.corpus_report import Measured
    from zerotag.evaluation.lexicon import THRESHOLDS
    from zerotag.evaluation.metrics import at_thresholds
    from zerotag.evaluation.reliability import reliability
    from zerotag.evaluation.report import judge
    from zerotag.evaluation.report import report as measures

    if not gold:
        return Measured(labeller.manifest.reliability, "development set")
    names = labeller.label_names
    judged = judge(zip(gold, scored, strict=True), names, labeller.rules)
    return Measured(
        {
            name: reliability([one.sentence_scores[k] for one in scored], [one.labels[k] for one in gold])
            for k, name in enumerate(names)
        },
        source.name,
        {one.label: at_thresholds(one.gold_words, one.word_scores, THRESHOLDS) for one in judged if one.gold_words},
        measures(judged),
    )


def _write(out: Path, corpus: LabelledCorpus, measured: Measured, labeller: Labeller, title: str, top: int) -> None:
    from zerotag.evaluation.corpus_report import charts, figure, page
    from zerotag.io.files import whole_file

    with whole_file(out) as file:
        match out.suffix.lower():
            case ".json":
                file.write(json.dumps(corpus.to_json() | measured.to_json(), indent=2, ensure_ascii=False) + "\n")
            case ".svg":
                file.write(figure(charts(corpus, measured)))
            case _:
                from zerotag.io.writers.style import Style

                style = Style(label_names=labeller.label_names, rules=labeller.rules, title=title)
                lead = (
                    f"{corpus.sentences:,} sentences and {corpus.words:,} words, labelled by a model that learnt from "
                    f"{labeller.manifest.supervision}."
                )
                file.writelines(page(corpus, measured, style, lead, top))
