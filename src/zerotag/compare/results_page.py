"""`zerotag results`: one page with the tables of every experiment, made from the committed result files alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from zerotag.compare.experiment import Run, read_experiment
from zerotag.compare.layout import Cell, Row, Table, markdown
from zerotag.compare.published import CORPUS_TITLES
from zerotag.compare.results import Results, load_results, run_path
from zerotag.compare.significance import read_significance
from zerotag.compare.tables import all_tables
from zerotag.errors import ZerotagError
from zerotag.storage import whole_file

_HEAD = """# Results

This page is made by `zerotag results` from the result files in `experiments/`; do not edit it. Every experiment has a
TOML that declares it, which `zerotag compare` runs, and a folder of the same name with its results: a file per run, the
mean, deviation and number of seeds of every measure (`summary.json`), and the tests (`significance.json`).
"""
_NONE_YET = "\nThere are no results yet.\n"


def write_results_page(experiments: Path, page: Path) -> None:
    """Write the page; it follows from the files in `experiments` and nothing else."""
    if not experiments.is_dir():
        raise ZerotagError(f"{experiments}: no such folder; give the one that holds the experiments")
    text = results_page(experiments, page.parent)
    with whole_file(page) as file:
        file.write(text)


def results_page(experiments: Path, place: Path) -> str:
    """The page's text, with links that are right for a page in the folder `place`."""
    sections = [section for toml in sorted(experiments.glob("*.toml")) for section in _experiment(toml, place)]
    return _HEAD + ("".join(sections) or _NONE_YET)


def _experiment(toml: Path, place: Path) -> Iterator[str]:
    experiment = read_experiment(toml)
    folder = experiment.results
    if experiment.draft or not folder.is_dir():
        return
    results = load_results(experiment, folder)
    if not results.records:
        return
    yield f"\n## {experiment.title}\n\n"
    files = {toml.name: toml, **{name: folder / name for name in ("summary.json", "significance.json", "tables.tex")}}
    yield "Files: " + ", ".join(f"[{name}]({_link(path, place)})" for name, path in files.items()) + ".\n"
    if experiment.about:
        yield f"\n{experiment.about}\n"
    yield f"\n{_made(results)}\n"
    notes = folder / "notes.md"
    if notes.exists():
        yield f"\n{notes.read_text(encoding='utf-8').strip()}\n"
    for table in all_tables(results, read_significance(folder)):
        yield "\n" + markdown(table)
    yield "\n" + markdown(_runs(results, folder, place))


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
            method.name,
            tuple(
                links([run for run in results.records if (run.corpus, run.method) == (corpus, method)])
                for corpus in corpora
            ),
        )
        for method in results.experiment.methods
    ]
    titles = tuple(CORPUS_TITLES.get(corpus, corpus) for corpus in corpora)
    return Table("Run files, by seed", ("",), titles, tuple(rows))


def _link(path: Path, place: Path) -> str:
    return Path(os.path.relpath(path, place)).as_posix()
