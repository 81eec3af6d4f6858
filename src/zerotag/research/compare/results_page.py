"""`zerotag results`: one page with the tables of every experiment, made from the committed result files alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from zerotag.errors import ZerotagError
from zerotag.io.files import whole_file
from zerotag.research.compare.cells import USES_WORD_LABELS, marked
from zerotag.research.compare.experiment import Run
from zerotag.research.compare.experiment_file import comparisons, read_experiment
from zerotag.research.compare.figures import FIGURES, Figure, curve_figures, example_figures, write_figures
from zerotag.research.compare.layout import Cell, Row, Table, markdown
from zerotag.research.compare.published import CORPUS_TITLES
from zerotag.research.compare.results import Results, load_results, run_path
from zerotag.research.compare.significance import read_significance
from zerotag.research.compare.tables import all_tables

_HEAD = """# Results

This page is made by `zerotag results` from the result files in `experiments/`; do not edit it. Every experiment has a
TOML that declares it, which `zerotag compare` runs, and a folder of the same name with its results: a file per run, the
mean, deviation and number of seeds of every measure (`summary.json`), and the tests (`significance.json`).
"""
_EXAMPLES_NOTE = (
    "The sentences are our own, with positive words in bold; each method is shown with its first seed. The middle "
    "of the scale is the method's threshold: outlined words reach it. Scores of soft attention are between 0 and 1; "
    "those of the other methods have scales of their own, which end at the sentence's highest and lowest score. Chance "
    "and methods that only classify have no row, nor has soft attention with a β that was only tried. "
    f"{USES_WORD_LABELS} uses word labels; the tables say which."
)
_CURVES_NOTE = (
    "Test sets, mean and standard deviation over seeds. Each seed draws its own training sentences, positive ones by "
    "their share, and a smaller draw is part of the larger ones; the development set is always the whole one."
)
_NONE_YET = "\nThere are no results yet.\n"


def write_results_page(experiments: Path, page: Path) -> None:
    """Write the page; it follows from the files in `experiments` and nothing else."""
    if not experiments.is_dir():
        raise ZerotagError(f"{experiments}: no such folder; give the one that holds the experiments")
    text = results_page(experiments, page.parent)
    for results in _published(experiments):
        write_figures(results, results.experiment.results)
    with whole_file(page) as file:
        file.write(text)


def results_page(experiments: Path, place: Path) -> str:
    """The page's text, with links that are right for a page in the folder `place`."""
    published = list(_published(experiments))
    if not published:
        return _HEAD + _NONE_YET
    contents = [f"- [{title}](#{_anchor(title)})\n" for title in (one.experiment.title for one in published)]
    sections = [section for results in published for section in _experiment(results, place)]
    return "".join([_HEAD, *_notes(experiments), "\n", *contents, *sections])


def _published(experiments: Path) -> Iterator[Results]:
    """The results of all experiments that have some, but for drafts, by their titles."""
    for experiment in sorted(map(read_experiment, comparisons(experiments)), key=lambda one: one.title):
        if not experiment.draft:
            results = load_results(experiment, experiment.results)
            if results.records:
                yield results


def _experiment(results: Results, place: Path) -> Iterator[str]:
    experiment = results.experiment
    toml, folder = experiment.path, experiment.results
    yield f"\n## {experiment.title}\n\n"
    files = {toml.name: toml, **{name: folder / name for name in ("summary.json", "significance.json", "tables.tex")}}
    yield "Files: " + ", ".join(f"[{name}]({_link(path, place)})" for name, path in files.items()) + ".\n"
    if experiment.about:
        yield f"\n{experiment.about}\n"
    yield f"\n{_made(results)}\n"
    yield from _notes(folder)
    for table in all_tables(results, read_significance(folder)):
        yield "\n" + markdown(table)
    for title, note, drawn in (
        ("How results grow with the number of training sentences", _CURVES_NOTE, curve_figures(results)),
        ("How methods see example sentences", _EXAMPLES_NOTE, example_figures(results)),
    ):
        yield from _figures(title, note, list(drawn), folder, place)
    yield "\n" + markdown(_runs(results, folder, place))


def _notes(folder: Path) -> Iterator[str]:
    """What somebody wrote about the results in a folder."""
    notes = folder / "notes.md"
    if notes.exists():
        try:
            yield f"\n{notes.read_text(encoding='utf-8').strip()}\n"
        except UnicodeDecodeError:
            raise ZerotagError(f"{notes} is not UTF-8; save it as UTF-8") from None


def _figures(title: str, note: str, drawn: Sequence[Figure], folder: Path, place: Path) -> Iterator[str]:
    if drawn:
        yield f"\n**{title}**\n\n{note}\n"
    for figure in drawn:
        yield f"\n![{figure.caption}]({_link(folder / FIGURES / figure.name, place)})\n"


def _made(results: Results) -> str:
    """On what, with what and when the runs were made."""
    made = [record.made for record in results.records.values()]
    versions = sorted({f"{name} {number}" for one in made for name, number in one["versions"].items()})
    commits = sorted({str(one["commit"]) for one in made if one["commit"]})
    days = sorted({str(one["date"])[:10] for one in made})
    devices = sorted({str(one["device"]) for one in made})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    source = f"; commit {', '.join(commits)}" if commits else ""
    wanted = sum(1 for _ in results.experiment.runs())
    return f"{len(made)} of {wanted} runs, made {when} on {', '.join(devices)} with {', '.join(versions)}{source}."


def _runs(results: Results, folder: Path, place: Path) -> Table:
    """Where every number comes from: the file of each run, by its seed."""

    def links(runs: list[Run]) -> Cell:
        return Cell(" ".join(f"[{run.seed}]({_link(run_path(folder, run), place)})" for run in runs) or "–")

    corpora = results.experiment.corpora
    rows = [
        Row(
            marked(method),
            tuple(
                links([run for run in results.records if (run.corpus, run.method) == (corpus, method)])
                for corpus in corpora
            ),
        )
        for method in results.experiment.methods
    ]
    titles = tuple(CORPUS_TITLES.get(corpus, corpus) for corpus in corpora)
    return Table("Run files, by seed", ("",), titles, tuple(rows))


def _anchor(title: str) -> str:
    """Where a heading is found on the page, by the rule of GitHub and others."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _link(path: Path, place: Path) -> str:
    return Path(os.path.relpath(path, place)).as_posix()
