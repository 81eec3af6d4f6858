"""`zerotag report`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.cli.options import (
    Device,
    LabelOptions,
    Method,
    Overwrite,
    SplitSentences,
    Threshold,
    loaded,
    require_absent,
    require_no_input,
    say,
    say_left_out,
)
from zerotag.cli.tables import show_table
from zerotag.errors import ZerotagError
from zerotag.render.progress import LiveBar

if TYPE_CHECKING:
    from zerotag.evaluation.corpus_report import Measured
    from zerotag.evaluation.lexicon import LabelledCorpus
    from zerotag.io import Reject
    from zerotag.labeller import Labeller
    from zerotag.types import GoldExample, Labelled, Scored

SUFFIXES = (".html", ".json", ".svg")


def report(
    *,
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
    labels: LabelOptions,
    split_sentences: SplitSentences = False,
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

    if labelled and split_sentences:
        raise ZerotagError("--labelled needs sentences as they were labelled: leave out --split-sentences")
    labeller = loaded(model, device, method, threshold)
    columns = labels.columns(labeller.manifest.model.segmenter, split_sentences=split_sentences)
    gold: Sequence[GoldExample] = ()
    if labelled:
        gold = read_gold(source, columns=columns, label_names=labeller.label_names).examples
    left_out: list[Reject] = []
    sentences = (one.sentence for one in gold) if labelled else stream(source, columns=columns, left_out=left_out)
    kept: list[Scored] = []  # only what is measured

    def results() -> Iterator[Labelled]:
        for scored in labeller.score(sentences, method=method):
            if labelled:
                kept.append(scored)
            yield decide(scored, labeller.label_names, labeller.rules)

    corpus = labelled_corpus(_counted(results()), labeller.label_names, labeller.rules)
    if not corpus.sentences:
        reason = left_out[0].reason if left_out else f"{source}: no sentences in it; give a file that has some"
        raise ZerotagError(reason)
    say_left_out(left_out)
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
            bar.show_or_say(words, done, None)


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
    from zerotag.evaluation.corpus_report import charts, figure, lead, page
    from zerotag.io.files import whole_file

    with whole_file(out) as file:
        match out.suffix.lower():
            case ".json":
                file.write(json.dumps(corpus.to_json() | measured.to_json(), indent=2, ensure_ascii=False) + "\n")
            case ".svg":
                file.write(figure(charts(corpus, measured)))
            case _:
                from zerotag.io.writers.style import Style

                style = Style.of(labeller.manifest, title)
                intro = lead(corpus, labeller.manifest.supervision)
                file.writelines(page(corpus, measured, style, intro, top))
