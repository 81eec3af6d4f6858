"""A labelled corpus as a whole: tables for the terminal, charts, and a page with a concordance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from zerotag.evaluation.lexicon import THRESHOLDS, Entry, Hit, LabelledCorpus, Lexicon
from zerotag.evaluation.metrics import PRF
from zerotag.evaluation.report import Report
from zerotag.evaluation.tables import score_table
from zerotag.io.writers.style import Style
from zerotag.render.charts import Chart, Line, Mark, svg
from zerotag.render.html import Markup, Paragraph, Section
from zerotag.render.html import report as whole_page
from zerotag.render.markup import HUES, escaped
from zerotag.render.model_card import reliability_chart
from zerotag.render.scale import position
from zerotag.render.tables import Table
from zerotag.text.printable import counted
from zerotag.types import ReliabilityBin

_EXAMPLE = 34  # characters on either side of a word, in a line
_EXAMPLES = 5
_HEADER = ("word", "marked", "of", "mean score", "sentences")


class Measured(NamedTuple):
    """What is known beside the labels that were given."""

    reliability: Mapping[str, Sequence[ReliabilityBin]] = {}
    """Of sentence scores, by label."""

    measured_on: str = ""
    """The sentences that the reliability was measured on."""

    by_threshold: Mapping[str, Sequence[PRF]] = {}
    """By label, precision, recall and F1 of words at each of `THRESHOLDS`, where words were labelled."""

    report: Report | None = None
    """How good the labels are, where that is known."""

    def tables(self) -> list[Table]:
        """The measures, if there are any."""
        return (
            [] if self.report is None else [score_table(self.report, f"measured by the labels of {self.measured_on}")]
        )

    def to_json(self) -> dict[str, Any]:
        """Plain types."""
        bins = {label: [one._asdict() for one in found] for label, found in self.reliability.items()}
        return {
            "reliability": {"measured_on": self.measured_on, "labels": bins},
            "measures": None if self.report is None else self.report.to_json(),
        }


def word_tables(corpus: LabelledCorpus, top: int) -> Iterator[Table]:
    """For each label its most frequent words, and examples of the first ones."""
    for one in corpus.lexicons:
        shown = one.entries[:top]
        rows = tuple(_cells(entry, corpus.sentences) for entry in shown)
        examples = [_in_brackets(entry.examples[0]) for entry in shown[:_EXAMPLES]]
        yield Table(
            f"{one.label}: {_headline(one, corpus)}",
            _HEADER,
            rows,
            "\n".join([_left_out(one, top), "for example:", *examples]),
        )


def charts(corpus: LabelledCorpus, measured: Measured) -> list[Chart]:
    """What every threshold would mark, label by label, and whether sentence scores are probabilities."""
    found = [_threshold_chart(one, measured.by_threshold.get(one.label, ())) for one in corpus.lexicons]
    if measured.reliability:
        found.append(reliability_chart(measured.reliability, f"sentence score ({measured.measured_on})"))
    return found


def lead(corpus: LabelledCorpus, supervision: str) -> str:
    """What was labelled, and what the model learnt from that did it."""
    size = f"{counted(corpus.sentences, 'sentence')} and {counted(corpus.words, 'word')}"
    return f"{size}, labelled by a model that learnt from {supervision}."


def page(corpus: LabelledCorpus, measured: Measured, style: Style, intro: str, top: int) -> Iterator[str]:
    """The whole as a page of its own."""
    sections: list[Section] = [Paragraph(intro), *measured.tables()]
    sections.append(Markup(f'<div class="charts">\n{"".join(map(_figure, charts(corpus, measured)))}</div>\n'))
    for number, one in enumerate(corpus.lexicons):
        sections.append(Markup("".join(_words_of(one, corpus, f"k{number % HUES}", top))))
    return whole_page(sections, style)


def _threshold_chart(one: Lexicon, measures: Sequence[PRF]) -> Chart:
    thresholds = THRESHOLDS.tolist()
    lines = [
        Line("share of words that reach it", [*zip(thresholds, one.words_reaching, strict=True)]),
        Line("share of sentences with such a word", [*zip(thresholds, one.sentences_reaching, strict=True)], hue=1),
    ]
    if measures:
        # Where no word reaches a threshold, there is no precision.
        some = [(threshold, prf) for threshold, prf in zip(thresholds, measures, strict=True) if prf.predicted]
        lines += [
            Line("precision of words", [(threshold, prf.precision) for threshold, prf in some], hue=2, dashed=True),
            Line("recall of words", [(threshold, prf.recall) for threshold, prf in some], hue=3, dashed=True),
            Line("F1 of words", [(threshold, prf.f1) for threshold, prf in some], hue=4),
        ]
    threshold = one.rule.word_threshold
    mark = Mark(min(1.0, max(0.0, threshold)), f"threshold {threshold:.2f}")
    return Chart(f"{one.label}: what a threshold marks", "word threshold", "share", tuple(lines), (mark,))


def _figure(chart: Chart) -> str:
    return f"<figure>\n{svg(chart)}</figure>\n"


def _words_of(one: Lexicon, corpus: LabelledCorpus, hue: str, top: int) -> Iterator[str]:
    headline = escaped(_headline(one, corpus))
    yield f'<section class="{hue}">\n<h2>{escaped(one.label)}</h2>\n<p class="lead">{headline}</p>\n'
    if not one.entries:
        yield "</section>\n"
        return
    header = "".join(f'<th scope="col">{name}</th>' for name in _HEADER)
    rows = "".join(_row(entry, one, corpus) for entry in one.entries[:top])
    label = escaped(one.label)
    yield (
        f'<div class="table" role="region" tabindex="0" aria-label="The words that carry {label}">\n'
        f"<table>\n<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
        f'<p class="note">{escaped(_left_out(one, top))}</p>\n<h3>Concordance</h3>\n'
    )
    for number, entry in enumerate(one.entries[:top]):
        lines = "".join(_hit(hit, one) for hit in entry.examples)
        opened = " open" if number < 3 else ""
        yield (
            f'<details class="concordance"{opened}>\n<summary><b dir="auto">{escaped(entry.word)}</b> {entry.marked:,}×'
            f"</summary>\n<table>\n<tbody>\n{lines}</tbody>\n</table>\n</details>\n"
        )
    yield "</section>\n"


def _row(entry: Entry, one: Lexicon, corpus: LabelledCorpus) -> str:
    word, *cells = _cells(entry, corpus.sentences)
    shade = position(entry.mean_score, one.rule.word_threshold)
    numbers = "".join(f"<td>{escaped(cell)}</td>" for cell in cells)
    shaded = f'<mark class="word yes" style="--strength: {shade:.2f};">{escaped(word)}</mark>'
    return f'<tr><th scope="row" dir="auto">{shaded}</th>{numbers}</tr>\n'


def _hit(hit: Hit, one: Lexicon) -> str:
    shade = position(hit.score, one.rule.word_threshold)
    return (
        f'<tr><td class="left"><bdi>{escaped(hit.left)}</bdi></td>'
        f'<td><mark class="word yes" style="--strength: {shade:.2f};">{escaped(hit.word)}</mark></td>'
        f'<td class="right" dir="auto">{escaped(hit.right)}</td>'
        f'<td class="quiet">{hit.score:z.2f}</td><td class="quiet">sentence {hit.sentence:,}</td></tr>\n'
    )


def _cells(entry: Entry, sentences: int) -> tuple[str, ...]:
    share = f"{100 * entry.sentences / sentences:.1f} %"
    return entry.word, f"{entry.marked:,}", f"{entry.occurrences:,}", f"{entry.mean_score:z.2f}", share


def _headline(one: Lexicon, corpus: LabelledCorpus) -> str:
    return (
        f"{one.sentences:,} of {corpus.sentences:,} sentences have it, {one.marked:,} of {corpus.words:,} "
        f"words carry it ({len(one.entries):,} different ones)"
    )


def _left_out(one: Lexicon, top: int) -> str:
    rule = one.rule
    basis = (
        "marked: how often it carries the label, of how many times it is there; mean score and share of all sentences: "
        f"where it does. Word threshold {rule.word_threshold:.2f} ({rule.origin})"
    )
    more = len(one.entries) - top
    return basis if more <= 0 else f"{basis}. {more:,} more words"


def _in_brackets(hit: Hit) -> str:
    left = hit.left if len(hit.left) <= _EXAMPLE else "…" + hit.left[1 - _EXAMPLE :]
    right = hit.right if len(hit.right) <= _EXAMPLE else hit.right[: _EXAMPLE - 1] + "…"
    return " ".join(f"  {left:>{_EXAMPLE}}[{hit.word}]{right}".splitlines())


def figure(drawn: Iterable[Chart]) -> str:
    """Charts beside each other in one SVG file."""
    parts = [svg(chart) for chart in drawn]
    sizes = [_size(part) for part in parts]
    width, height = sum(size[0] for size in sizes), max(size[1] for size in sizes)
    places = [sum(size[0] for size in sizes[:number]) for number in range(len(sizes))]
    placed = "".join(part.replace("<svg ", f'<svg x="{x:g}" ', 1) for part, x in zip(parts, places, strict=True))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}">\n<rect width="100%" height="100%" fill="#ffffff"/>\n{placed}</svg>\n'
    )


def _size(drawn: str) -> tuple[float, float]:
    _, _, width, height = drawn.split('viewBox="', 1)[1].split('"', 1)[0].split()
    return float(width), float(height)
