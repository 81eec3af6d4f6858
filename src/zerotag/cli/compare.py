"""`zerotag compare` and `zerotag results`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.cli.engine_options import EngineOptions
from zerotag.errors import ZerotagError
from zerotag.render.progress import duration

if TYPE_CHECKING:
    from zerotag.research.compare.comparison import Status


def compare(
    *,
    experiment: Annotated[Path, typer.Argument(help="TOML that declares corpora, methods and seeds.")],
    data: Annotated[Path | None, typer.Option(help="Folder with the official corpora. [ZEROTAG_DATA]")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results. [beside the TOML, of its name]")] = None,
    jobs: Annotated[int, typer.Option(help="Runs at once, all on the same device.")] = 1,
    only: Annotated[str, typer.Option(help="Pattern of the runs to make, as in 'fce.*.1'.")] = "*",
    limit: Annotated[float | None, typer.Option(help="Stop after so many minutes; what was begun can go on.")] = None,
    engine: EngineOptions,
) -> None:
    """Run methods on corpora with several seeds, and write the tables.

    Finished runs are not repeated, and unfinished trainings go on where they were. With --engine ray, trainings go to
    the workers of Ray.
    """
    from zerotag.research.compare.comparison import compare as run

    if limit is not None and not limit > 0:
        raise ZerotagError(f"limit {limit:g} is out of range; allowed: minutes above 0; leave it out for no limit")
    done = run(
        experiment,
        data=data,
        out=out,
        jobs=jobs,
        only=only,
        limit_seconds=None if limit is None else 60 * limit,
        cluster=engine.cluster(),
        on_status=_show,
    )
    typer.echo(f"{done.folder}: {len(done.done)} runs done, {len(done.failed)} failed, {len(done.left)} left")
    if done.failed:
        raise ZerotagError(f"{len(done.failed)} runs failed; see the lines above; the same command repeats them")


def results(
    experiments: Annotated[Path, typer.Argument(help="Folder with the experiments.")] = Path("experiments"),
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("docs/results.md"),
) -> None:
    """Write the page of results of all experiments."""
    from zerotag.research.compare.results_page import write_results_page

    write_results_page(experiments, out)
    typer.echo(out)


def _show(status: Status) -> None:
    left = "" if status.seconds_left is None else f", {duration(status.seconds_left)} left"
    typer.echo(f"[{status.done}/{status.total}{left}] {status.message}", err=True)
