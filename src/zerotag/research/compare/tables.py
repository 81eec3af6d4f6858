"""The paper's tables from our runs, with its numbers under ours, and those tables that it does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from zerotag.io.files import whole_file
from zerotag.research.compare.cells import (
    BY_RANDOMISATION,
    BY_T_TEST,
    NOTHING,
    OTHER_DEVICE,
    USES_WORD_LABELS,
    USES_WORD_LABELS_NOTE,
    marked,
    p_value,
    published_number,
    shown,
)
from zerotag.research.compare.experiment import Method
from zerotag.research.compare.layout import Cell, Row, Table, latex, markdown
from zerotag.research.compare.published import (
    CORPUS_TITLES,
    OTHER_ROWS,
    PAPER,
    best_without_word_labels,
    others,
    paper,
    used_word_labels,
)
from zerotag.research.compare.results import Results
from zerotag.research.compare.settings_table import settings_table
from zerotag.research.compare.significance import (
    LEVEL,
    Difference,
    Differences,
    FromPublished,
    from_published,
    read_significance,
)
from zerotag.research.compare.summary import SECONDS, summaries, timed_on

Columns = Mapping[str, str]
"""Headings, and the measure under each."""

MAIN: Columns = {"Sent F1": "sentence_f1", "F1": "word_f1", "MAP": "map"}
DEV: Columns = {"Sent F1": "dev_sentence_f1"}
SENTENCES: Columns = {"Sent F1": "sentence_f1", "Sent P": "sentence_precision", "Sent R": "sentence_recall"}
WORDS: Columns = {"P": "word_precision", "R": "word_recall", "F1": "word_f1", "F0.5": "word_f05", "MAP": "map"}
THRESHOLDS: Columns = {"threshold": "word_threshold"}
SWEEP: Columns = {"dev Sent F1": "dev_sentence_f1", **MAIN}
RATIONALES: Columns = {
    "IOU F1": "iou_f1",
    "token F1": "token_f1",
    "AUPRC": "auprc",
    "compr.": "comprehensiveness",
    "suff.": "sufficiency",
}
RANKING: Columns = {"MAP": "map", "clipped": "map_clipped", "positional": "map_positional"}
COST: Columns = {
    "epochs": "epochs",
    "training, min": "training_seconds",
    "s / 1,000": "seconds_per_1000",
    "passes / 1,000": "passes_per_1000",
}
_SENTENCES_R = "Sent F1 r"  # early records do not have what it takes
P_VALUES: Columns = {
    "Sent F1 t": "sentence_f1 t_test",
    _SENTENCES_R: "sentence_f1 randomisation",
    "F1 t": "word_f1 t_test",
    "F1 r": "word_f1 randomisation",
    "MAP t": "map t_test",
    "MAP r": "map randomisation",
}

_RATIONALE_NOTE = (
    "IOU F1, token F1 and AUPRC are ERASER's macro averages. Comprehensiveness (higher is better) and sufficiency "
    "(lower is better) are over sentences that the model itself calls positive, words being hidden by the mask token."
)
_RANKING_NOTE = (
    "MAP groups equal scores, as scikit-learn does; clipped: the same after raising negative scores to 0, as the "
    "paper's code does (its MAP of LIME); positional: equal scores in reverse order of position, as the code of Rei "
    "& Søgaard does."
)
_BAR = "Best published without word labels"
_P_VALUES_NOTE = (
    "t: two-tailed paired t-test over the seeds that both have; r: paired approximate randomisation over test "
    "sentences, of the means over these seeds: it says nothing of other seeds. n: seeds, where fewer than all. "
)
_FROM_PUBLISHED_NOTE = (
    f"From the best published: two-tailed one-sample t-test over seeds, the numbers of “{_BAR}” in the first table "
    "taken as exact; whether above or below them, that table shows."
)
_MARKS = "Marks as in the first table."
_NOT_COMPARED = {"sufficiency", *THRESHOLDS.values(), *COST.values()}  # more is not better

Tests = Mapping[str, Mapping[str, Mapping[str, Difference | FromPublished]]]
"""Corpus → method → measure → tests."""

CellAt = Callable[[str, str], Cell]
"""The cell for a corpus and a measure."""


def write_tables(results: Results, folder: Path) -> None:
    """Write `tables.md` and `tables.tex`."""
    tables = all_tables(results, read_significance(folder))
    for name, draw in (("tables.md", markdown), ("tables.tex", latex)):
        with whole_file(folder / name) as file:
            file.write("\n".join(map(draw, tables)))


def all_tables(results: Results, differences: Differences) -> list[Table]:
    """Every table that we have numbers for."""
    return [table for table in _Tables(results, differences).all() if not all(row.quoted for row in table.rows)]


class _Tables:
    """The tables of an experiment; rows without a number are left out."""

    def __init__(self, results: Results, differences: Differences) -> None:
        self._results = results
        self._experiment = results.experiment
        self._summaries = summaries(results)
        self._differences = differences
        self._from_published = from_published(results)
        self._corpora = [corpus for corpus in self._experiment.corpora if corpus in self._summaries]
        self._methods = [method for method in self._experiment.methods if not method.sweep]

    def all(self) -> Iterator[Table]:
        """In the order of the paper and its appendix, then those that it does not have."""
        yield self._main()
        yield self._of_methods("Sentence F1 on the development sets", DEV, self._corpora)
        for corpus in self._corpora:
            yield self._of_methods("Sentences of the test set", SENTENCES, [corpus])
        for corpus in self._corpora:
            yield self._of_methods("Words of the test set", WORDS, [corpus])
        yield self._of_methods("Word thresholds, from which on a word is positive", THRESHOLDS, self._corpora)
        yield settings_table(self._results)
        yield self._sweep()
        yield self._of_methods("Rationales, by ERASER's conventions", RATIONALES, self._corpora, _RATIONALE_NOTE)
        yield self._of_methods("Three definitions of MAP", RANKING, self._corpora, _RANKING_NOTE)
        yield self._of_methods("Cost: training, and scoring test sentences", COST, self._corpora, self._circumstances)
        yield self._p_values()

    def _main(self) -> Table:
        table = self._of_methods("Results on the test sets", MAIN, self._corpora, self._legend)
        named: list[tuple[str, CellAt]] = [(name, partial(_elsewhere, name)) for name in OTHER_ROWS]
        elsewhere = _rows([*named, (_BAR, _bar)], MAIN, self._corpora, quoted=True)
        return replace(table, rows=(*table.rows, *elsewhere))

    def _of_methods(self, caption: str, columns: Columns, corpora: Sequence[str], note: str = _MARKS) -> Table:
        """A row for each method and, where the paper has one too, its row below."""
        rows: list[Row] = []
        for method in self._methods:
            ours = list(_rows([(self._name(method), partial(self._ours, method))], columns, corpora))
            papers = _rows([(_papers_name(method), partial(_papers, method))], columns, corpora, quoted=True)
            rows += [*ours, *papers] if ours else []
        return Table(caption, tuple(map(_title, corpora)), tuple(columns), tuple(rows), note)

    def _sweep(self) -> Table:
        """Soft attention by its β, where there are several with all else equal."""
        points: dict[object, list[tuple[float, Method]]] = {}
        for method in self._experiment.methods:
            if method.training is not None and method.scorer == "native":
                training = self._experiment.trainings[method.training]
                all_else = (replace(training, name="", model=replace(training.model, beta=1.0)), method.threshold)
                points.setdefault(all_else, []).append((training.model.beta, method))
        rows = [
            (f"β = {beta:g}", partial(self._ours, method))
            for several in points.values()
            if len(several) > 1
            for beta, method in sorted(several, key=lambda point: point[0])
        ]
        return Table(
            "Soft attention by its sharpness β",
            tuple(map(_title, self._corpora)),
            tuple(SWEEP),
            tuple(_rows(rows, SWEEP, self._corpora)),
            _MARKS,
        )

    def _p_values(self) -> Table:
        methods = self._experiment.methods
        rows = [
            *((self._name(one), partial(self._p_value, self._differences, one)) for one in methods),
            *(
                (f"{one.name}, from the best published", partial(self._p_value, self._from_published, one))
                for one in methods
            ),
        ]
        other = self._experiment.reference if self._differences else "the best published"
        columns = dict(P_VALUES)
        by_method = (one for methods in self._differences.values() for one in methods.values())
        if all(one["sentence_f1"].randomisation is None for one in by_method if "sentence_f1" in one):
            del columns[_SENTENCES_R]
        return Table(
            f"p-values of the difference from {other}",
            tuple(map(_title, self._corpora)),
            tuple(columns),
            tuple(_rows(rows, columns, self._corpora)),
            (_P_VALUES_NOTE if self._differences else "") + (_FROM_PUBLISHED_NOTE if self._from_published else ""),
        )

    def _name(self, method: Method) -> str:
        part = "" if method.test_sentences is None else f" ({method.test_sentences:,} test sentences)"
        return marked(method) + part

    def _ours(self, method: Method, corpus: str, measure: str) -> Cell:
        summary = self._summaries[corpus].get(method.name, {}).get(measure)
        if summary is None:
            return Cell(NOTHING)
        text = f"{shown(measure, summary)}{self._marks(method, corpus, measure)}{self._fewer(summary.n)}"
        if measure in SECONDS and timed_on(list(self._results.of(corpus, method.name).values())) != self._device:
            text += OTHER_DEVICE
        compared = (
            measure not in _NOT_COMPARED
            and method.test_sentences is None
            and not method.uses_word_labels
            and summary.n == len(self._experiment.seeds)
        )
        return Cell(text, summary.mean if compared else None)

    def _marks(self, method: Method, corpus: str, measure: str) -> str:
        difference = self._differences.get(corpus, {}).get(method.name, {}).get(measure)
        if difference is None:
            return ""
        tests = ((difference.t_test, BY_T_TEST), (difference.randomisation, BY_RANDOMISATION))
        return "".join(mark for p, mark in tests if p is not None and p < LEVEL)

    def _p_value(self, tests: Tests, method: Method, corpus: str, measure_and_test: str) -> Cell:
        measure, test = measure_and_test.split()
        tested = tests.get(corpus, {}).get(method.name, {}).get(measure)
        p: float | None = getattr(tested, test, None)  # a published number has no sentences to randomise
        if tested is None or p is None:
            return Cell(NOTHING)
        return Cell(p_value(p) + self._fewer(tested.seeds))

    def _fewer(self, seeds: int) -> str:
        return "" if seeds == len(self._experiment.seeds) else f" (n={seeds})"

    @property
    def _legend(self) -> str:
        seeds = len(self._experiment.seeds)
        what = "one seed" if seeds == 1 else f"mean ± sample standard deviation over {seeds} seeds (n where fewer)"
        return (
            f"Percent, {what}; paper: {PAPER}. {USES_WORD_LABELS_NOTE} Bold: the highest of our rows without "
            f"{USES_WORD_LABELS}, where several have the whole test set and all seeds.{self._marks_legend}"
            f"{self._bar_legend}"
        )

    @property
    def _marks_legend(self) -> str:
        if not self._differences:
            return ""
        return (
            f" Differs from {self._experiment.reference} at p < {LEVEL}: {BY_T_TEST} by a paired t-test over seeds, "
            f"{BY_RANDOMISATION} by randomisation over sentences, of the means over these seeds (sentence F1 where "
            "verdicts were kept)."
        )

    @property
    def _bar_legend(self) -> str:
        """Whose the best published numbers are."""
        whose: dict[str, list[str]] = {}
        for corpus in self._corpora:
            for heading, measure in MAIN.items():
                best = best_without_word_labels(corpus, measure)
                if best is not None:
                    whose.setdefault(best[1], []).append(f"{_title(corpus)} {heading}")
        if not whose:
            return ""
        return f" {_BAR}: " + "; ".join(f"{', '.join(where)} by {name}" for name, where in whose.items()) + "."

    @property
    def _device(self) -> str:
        """That of most runs."""
        return timed_on(list(self._results.records.values()))

    @property
    def _circumstances(self) -> str:
        made = [record.made for record in self._results.records.values()]
        others = sorted({str(one["device"]) for one in made} - {self._device})
        counts = sorted({one["side_by_side"] for one in made})
        return (
            "Times are means over the runs on the device that most runs of the cell were made on (n where fewer): "
            f"{self._device}{f'; {OTHER_DEVICE} ' + ', '.join(others) if others else ''}. "
            f"Processes that shared it: {', '.join(map(str, counts))}"
            f"{'' if len(counts) == 1 else ', which is not the same for all cells: their times are no race'}. "
            "Passes are sequences through the encoder; of a sentence's samples that are the same, one is."
        )


def _rows(
    named: Iterable[tuple[str, CellAt]], columns: Columns, corpora: Sequence[str], *, quoted: bool = False
) -> Iterator[Row]:
    for name, cell_at in named:
        cells = tuple(cell_at(corpus, measure) for corpus in corpora for measure in columns.values())
        if any(cell.text != NOTHING for cell in cells):
            yield Row(name, cells, quoted)


def _papers_name(method: Method) -> str:
    mark = f" {USES_WORD_LABELS}" if used_word_labels(method.published) else ""
    return f"paper: {method.published}{mark}"


def _papers(method: Method, corpus: str, measure: str) -> Cell:
    return Cell(published_number(measure, paper(corpus, method.published, measure)))


def _elsewhere(name: str, corpus: str, measure: str) -> Cell:
    return Cell(published_number(measure, others(corpus, name, measure)))


def _bar(corpus: str, measure: str) -> Cell:
    best = best_without_word_labels(corpus, measure)
    return Cell(published_number(measure, None if best is None else best[0]))


def _title(corpus: str) -> str:
    return CORPUS_TITLES.get(corpus, corpus)
