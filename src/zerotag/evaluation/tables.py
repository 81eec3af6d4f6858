"""A report as a table of percents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from zerotag.evaluation.report import Classes, LabelReport, Measures, Report
from zerotag.render.tables import Table


def score_table(report: Report, caption: str) -> Table:
    """Precision, recall, F1 and MAP in percent for every label and, where there are several, their average."""
    measured = [(one.label, one.measures) for one in report.labels]
    if len(measured) > 1:
        measured.append(("average", report.macro))
    return Table(
        caption=caption,
        header=("percent", "P", "R", "F1", "MAP"),
        rows=tuple(row for name, measures in measured for row in _rows(name, measures)),
        note="\n".join(map(_basis, report.labels)),
    )


def side_by_side(reports: Mapping[str, Report], caption: str) -> Table:
    """The scores of several methods, by their names, in one table."""
    tables = {name: score_table(report, caption) for name, report in reports.items()}
    return Table(
        caption=caption,
        header=("percent", "P", "R", "F1", "MAP"),
        rows=tuple((f"{name} · {row[0]}", *row[1:]) for name, table in tables.items() for row in table.rows),
        note="\n".join(f"{name} · {line}" for name, table in tables.items() for line in table.note.splitlines()),
    )


def class_table(classes: Classes) -> Table:
    """The classes of sentences beside those that were found, as counts."""
    names = ["(none)" if name is None else name for name in classes.names]
    found = sum(row[k] for k, row in enumerate(classes.confusion))
    total = sum(map(sum, classes.confusion))
    return Table(
        caption="sentences of each class (rows) by the class that was found (columns)",
        header=("class", *names),
        rows=tuple((name, *map(str, row)) for name, row in zip(names, classes.confusion, strict=True)),
        note=f"accuracy {percent(classes.accuracy)}: {found:,} of {total:,} sentences",
    )


def _rows(name: str, measures: Measures) -> Iterator[tuple[str, ...]]:
    sentences = (measures.sentence_precision, measures.sentence_recall, measures.sentence_f1)
    words = (measures.word_precision, measures.word_recall, measures.word_f1, measures.map)
    yield (f"{name}: sentences", *map(percent, sentences), "")
    yield (f"{name}: words", *map(percent, words))


def percent(fraction: float | None) -> str:
    """A measure as tables have it."""
    return "–" if fraction is None else f"{100 * fraction:.1f}"


def _basis(one: LabelReport) -> str:
    """What the scores of a label were measured on, and how its words were decided."""
    counts, rule = one.counts, one.rule
    basis = f"{one.label}: {counts.positive_sentences:,} of {counts.sentences:,} sentences"
    if not counts.words:
        return f"{basis} are positive; no word labels"
    best, threshold = one.measures.highest_word_f1, one.best_word_threshold
    highest = "" if best is None else f"; the best one for these words, {threshold:.2f}, gives F1 {percent(best)}"
    return (
        f"{basis} and {counts.positive_words:,} of {counts.words:,} words are positive; "
        f"word threshold {rule.word_threshold:.2f} ({rule.origin}){highest}"
    )
