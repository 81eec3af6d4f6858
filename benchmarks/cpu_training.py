"""The recipe on a processor, from a file to a saved model, against an earlier commit: time and quality.

    ZEROTAG_DATA=FOLDER python benchmarks/cpu_training.py       # 2,000 sentences of CoNLL-2010, half an hour
    python benchmarks/cpu_training.py --quick                   # few sentences of the demonstration, against itself

Both train with their default settings and the same seed, a seed for each round, side by side, each on one thread, so
that whatever else the machine does slows down both. Quality is that of the words and sentences of the development set,
of which nothing is used before.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from statistics import mean, median

from earlier import COMMIT, HERE, earlier_tree, python
from results_file import command_line, row, write_results

SENTENCES = 2_000
MEASURES = {"word_f1": "word F1", "map": "MAP", "sentence_f1": "sentence F1"}


def corpus(folder: Path, *, quick: bool) -> tuple[Path, Path]:
    """Files with training sentences and with sentences to measure by."""
    data = os.environ.get("ZEROTAG_DATA")
    if quick or not data:
        train, test = (files("zerotag.demo").joinpath(f"hedging.{part}.jsonl") for part in ("train", "test"))
        return _first(str(train), folder / "train.jsonl", quick), _first(str(test), folder / "dev.jsonl", quick)
    from zerotag.research.compare.corpora import drawn, released
    from zerotag.research.corpora import CORPORA

    splits = released(CORPORA["conll2010"], Path(data, "conll2010"))
    chosen = drawn(splits.train, SENTENCES, seed=1)
    train = folder / "train.jsonl"
    train.write_text(
        "".join(
            json.dumps({"text": one.sentence.text, "label": [chosen.label_names[0]] if one.labels[0] else []}) + "\n"
            for one in chosen.examples
        )
    )
    dev = folder / "dev.tsv"
    dev.write_text(
        "\n".join(
            "".join(
                f"{word}\t{chosen.label_names[0] if has[0] else 'O'}\n"
                for word, has in zip(one.sentence.words, one.word_labels or (), strict=True)
            )
            for one in splits.dev_with_word_labels.examples
        )
    )
    return train, dev


def _first(source: str, target: Path, quick: bool) -> Path:
    lines = Path(source).read_text(encoding="utf-8").splitlines(keepends=True)
    target.write_text("".join(lines[: 24 if quick else None]), encoding="utf-8")
    return target


def quality(tree: Path, model: Path, dev: Path) -> dict[str, float]:
    """Points on the development set."""
    found = model.with_suffix(".json")
    python(tree, "-m", "zerotag", "evaluate", model, dev, "--json", found)
    macro = json.loads(found.read_text())["macro"]
    return {name: 100 * macro[name] for name in MEASURES}


def main() -> None:
    """Train side by side, measure, print, write the results."""
    parser = command_line(__doc__)
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    few = ["--epochs", 1, "--teacher-epochs", 1, "--depth", 1] if options.quick else []
    with tempfile.TemporaryDirectory() as scratch, earlier_tree(Path(scratch), quick=options.quick) as before:
        train, dev = corpus(Path(scratch), quick=options.quick)
        trees = {"before": before, "now": HERE}
        took: dict[str, list[tuple[float, float]]] = {"before": [], "now": []}
        found: dict[str, list[dict[str, float]]] = {"before": [], "now": []}
        rounds = options.rounds or (1 if options.quick else 3)
        for seed in range(1, rounds + 1):
            models = {name: Path(scratch, f"{name}-{seed}") for name in trees}
            with ThreadPoolExecutor(len(trees)) as side_by_side:
                trainings = {
                    name: side_by_side.submit(
                        python, tree, "-m", "zerotag", "train", train, "--out", models[name], "--seed", seed, *few
                    )
                    for name, tree in trees.items()
                }
            for name, training in trainings.items():
                cpu, wall, _ = training.result()
                took[name].append((cpu, wall))
                found[name].append(quality(trees[name], models[name], dev))
                print(f"seed {seed}, {name}: {cpu:.1f} s of a processor, {wall:.1f} s; {found[name][-1]}", flush=True)
    rows = [*times(took, rounds), *points(found, rounds)]
    print(write_results("cpu_training", rows, folder=options.out))


def times(took: dict[str, list[tuple[float, float]]], rounds: int) -> Iterable[dict[str, object]]:
    """How many trainings there are in an hour of a processor."""
    (before, before_wall), (now, now_wall) = (
        [median(column) for column in zip(*took[name], strict=True)] for name in ("before", "now")
    )
    what = f"trainings in an hour of one thread, defaults, {rounds} seeds, against {COMMIT}"
    yield row(what, 3600 / before, 3600 / now, "≥ 1.8", wall_ratio=round(before_wall / now_wall, 3))


def points(found: dict[str, list[dict[str, float]]], rounds: int) -> Iterable[dict[str, object]]:
    """How good the models are."""
    for name, what in MEASURES.items():
        before, now = (mean(one[name] for one in found[which]) for which in ("before", "now"))
        yield row(f"{what} on the development set, mean of {rounds} seeds, against {COMMIT}", before, now)


if __name__ == "__main__":
    main()
