"""Run a piece of the learning curves: `python -m zerotag.research.few_words experiments/few-words.toml ...`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from zerotag.io.files import delete_folder, make_folders
from zerotag.labeller import WordLabeller
from zerotag.research.compare.corpora import Splits
from zerotag.research.few_words import draws, flips
from zerotag.research.few_words.cells import ZERO_SHOT, OutOfTimeError, Workplace, cells, encoder_of, run
from zerotag.research.few_words.plan import read_plan, read_splits
from zerotag.research.few_words.records import Record
from zerotag.research.few_words.results import write_results

DRAWS = {"tuning": draws.tuning_draws, "suggestions": draws.suggestion_draws}
Step = tuple[Path, Callable[[Splits], None]]


def main(
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN")],
    data: Annotated[Path, typer.Option(help="Folder that holds the corpora.")],
    out: Annotated[Path, typer.Option(help="Folder for models, scores and measures; what is there is not run again.")],
    encoders: Annotated[Path, typer.Option(help="Folder that holds the encoder.")] = Path(),
    only: Annotated[
        str, typer.Option(help="Pattern of the pieces to run, as in 'fce-*'; several processes may share --out.")
    ] = "*",
    seconds: Annotated[float, typer.Option(help="Begin nothing new after so long; run again to go on.")] = 170.0,
) -> None:
    """Run what is left of the learning curves, for a while."""
    plan = read_plan(plan_file)
    make_folders(out / "models")
    place = Workplace(plan, data, encoders, out, time.monotonic() + seconds)
    done = all(_run(place, name, only) for name in plan.corpora)
    write_results(plan, out)
    typer.echo("all is done" if done else "pieces are left: run the same command again")


def _run(place: Workplace, corpus: str, only: str) -> bool:
    """Run what is left of a corpus until the time is over; returns whether all is done."""
    left = [(path, step) for path, step in _steps(place, corpus) if fnmatchcase(path.stem, only) and not path.exists()]
    splits = read_splits(place.plan, corpus, place.data) if left else None
    for path, step in left:
        start = time.monotonic()
        if splits is None or start > place.end:
            return False
        try:
            step(splits)
        except OutOfTimeError:
            return False
        typer.echo(f"{path.stem}: {time.monotonic() - start:.0f} s")
    return True


def _steps(place: Workplace, corpus: str) -> Iterator[Step]:
    """The files of a corpus, and what makes each, those first on which others stand."""
    for cell in cells(place.plan, corpus):
        yield place.out / f"{cell.name}.json", partial(run, place, cell)
        if cell.method == ZERO_SHOT:
            for kind in DRAWS:
                yield place.out / f"{corpus}-{cell.seed}-{kind}.json", partial(_draw, place, corpus, cell.seed, kind)
    for share in place.plan.flips:
        yield _flips_file(place, corpus, share), partial(_flip, place, corpus, share)


def _draw(place: Workplace, corpus: str, seed: int, kind: str, splits: Splits) -> None:
    record = Record()
    labeller = WordLabeller.from_pretrained(place.out / "models" / f"{corpus}-{seed}")
    record.write(place.out / f"{corpus}-{seed}-{kind}.json", DRAWS[kind](splits, labeller))


def _flips_file(place: Workplace, corpus: str, share: float) -> Path:
    return place.out / f"{corpus}-{place.plan.seeds[0]}-flips-{share}.json"


def _flip(place: Workplace, corpus: str, share: float, splits: Splits) -> None:
    """Of the first seed: training on flipped labels, then telling which they were."""
    record, path, seed = Record(), _flips_file(place, corpus, share), place.plan.seeds[0]
    noisy, wrong = flips.flipped(flips.one_label(splits.train), share, seed)
    unfinished = place.out / "models" / f"{path.stem}.partial"
    labeller = flips.trained(noisy, splits, encoder_of(place), seed, unfinished, place.tell)
    record.write(path, {"flipped": len(wrong), **flips.precision(labeller, noisy, wrong)})
    delete_folder(unfinished)


if __name__ == "__main__":
    typer.run(main)
