"""Run a piece of the learning curves: `python -m zerotag.research.few_words experiments/few-words.toml ...`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from zerotag.io.files import delete_folder, make_folders, whole_file
from zerotag.labeller import WordLabeller
from zerotag.research.few_words import draws, flips
from zerotag.research.few_words.cells import (
    METHODS,
    ZERO_SHOT,
    Cell,
    OutOfTimeError,
    Workplace,
    encoder_of,
    is_done,
    run_all,
)
from zerotag.research.few_words.plan import Plan, read_plan, read_splits

DRAWS = {"tuning": draws.tuning_draws, "suggestions": draws.suggestion_draws}


def main(
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN")],
    data: Annotated[Path, typer.Option(help="Folder that holds the corpora.")],
    out: Annotated[Path, typer.Option(help="Folder for models, scores and measures; what is there is not run again.")],
    encoders: Annotated[Path, typer.Option(help="Folder that holds the encoder.")] = Path(),
    seconds: Annotated[float, typer.Option(help="Begin nothing new after so long; run again to go on.")] = 170.0,
) -> None:
    """Run what is left of the learning curves, for a while."""
    plan = read_plan(plan_file)
    make_folders(out / "models")
    place = Workplace(plan, data, encoders, out, time.monotonic() + seconds)
    done = run_all(place, typer.echo) and _run_draws(place) and _run_flips(place)
    with whole_file(out / "results.md") as file:
        file.writelines(table(plan, place))
    typer.echo("all is done" if done else "pieces are left: run the same command again")


def _run_draws(place: Workplace) -> bool:
    for seed in place.plan.seeds:
        for corpus in place.plan.corpora:
            for kind, draw in DRAWS.items():
                path = place.out / f"{corpus}-{seed}-{kind}.json"
                if path.exists():
                    continue
                if time.monotonic() > place.end:
                    return False
                labeller = WordLabeller.from_pretrained(place.out / "models" / f"{corpus}-{seed}")
                draws.write(path, draw(place.plan, read_splits(place.plan, corpus, place.data), labeller))
                typer.echo(path.stem)
    return True


def _run_flips(place: Workplace) -> bool:
    """Of the first seed: training on flipped labels, then telling which they were."""
    seed = place.plan.seeds[0]
    for corpus in place.plan.corpora:
        for share in flips.SHARES:
            path = place.out / f"{corpus}-{seed}-flips-{share}.json"
            if path.exists():
                continue
            if time.monotonic() > place.end:
                return False
            splits = read_splits(place.plan, corpus, place.data)
            noisy, wrong = flips.flipped(flips.one_label(splits.train), share, seed)
            unfinished = place.out / "models" / f"{path.stem}.partial"
            try:
                labeller = flips.trained(noisy, splits, encoder_of(place), seed, unfinished, place.tell)
            except OutOfTimeError:
                return False
            draws.write(path, {"flipped": len(wrong), **flips.precision(labeller, noisy, wrong)})
            delete_folder(unfinished)
            typer.echo(path.stem)
    return True


def table(plan: Plan, place: Workplace) -> Iterator[str]:
    """Test word F1 and MAP in percent, mean over seeds, of what is done."""
    header = ["word F1 / MAP", *plan.corpora]
    yield f"| {' | '.join(header)} |\n|{'---|' * len(header)}\n"
    for method, count in [(ZERO_SHOT, 0), *((method, n) for n in plan.sentences for method in METHODS)]:
        name = method if method == ZERO_SHOT else f"{method}, {count or 'all'}"
        values = [_mean(plan, place, corpus, method, count) for corpus in plan.corpora]
        yield f"| {name} | {' | '.join(values)} |\n"


def _mean(plan: Plan, place: Workplace, corpus: str, method: str, count: int) -> str:
    found = []
    for seed in plan.seeds:
        cell = Cell(corpus, seed, method, count)
        if is_done(place, cell):
            macro = json.loads((place.out / f"{cell.name}.json").read_text(encoding="utf-8"))["macro"]
            found.append((macro["word_f1"], macro["map"]))
    if not found:
        return "–"
    f1, precision = np.mean(np.array(found, np.float64), axis=0)
    return f"{100 * f1:.1f} / {100 * precision:.1f}{'' if len(found) == len(plan.seeds) else f' ({len(found)})'}"


if __name__ == "__main__":
    typer.run(main)
