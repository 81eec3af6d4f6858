"""What is to be run: a TOML as a plan, its corpora, and the draw of labelled sentences."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zerotag.errors import ZerotagError
from zerotag.io.reading import corrected
from zerotag.research.compare.corpora import Splits, drawn, splits_in
from zerotag.types import Corpus, CorrectedExample, GoldExample

PARTS = ("train", "dev", "test")
DRAW = 0  # the seed of a corpus's subset, which is the same for all trainings


@dataclass(frozen=True, slots=True)
class Plan:
    """What a TOML of learning curves says."""

    encoder: str
    teachers: int
    seeds: tuple[int, ...]
    sentences: tuple[int, ...]
    """Numbers of labelled sentences; 0 stands for all training sentences."""

    flips: tuple[float, ...]
    """Shares of sentence labels to flip, for `suspects` to find."""

    corpora: Mapping[str, Mapping[str, int]]
    """By name, how many sentences of each part are taken, where not all are."""


def read_plan(path: Path) -> Plan:
    """The plan of a TOML."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        return Plan(
            values["encoder"],
            values["teachers"],
            tuple(values["seeds"]),
            tuple(values["sentences"]),
            tuple(values.get("flips", ())),
            values["corpora"],
        )
    except FileNotFoundError:
        raise ZerotagError(f"{path}: no such file") from None
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise ZerotagError(f"{path}: not a plan of learning curves ({error}); see experiments/few-words.toml") from None


def read_splits(plan: Plan, name: str, data: Path) -> Splits:
    """The parts of a corpus, with word labels only where they are asked for."""
    splits, most = splits_in(name, data / name), plan.corpora[name]
    whole = (splits.train_with_word_labels, splits.dev_with_word_labels, splits.test)
    return Splits.of(*(drawn(part, most.get(its_name), DRAW) for its_name, part in zip(PARTS, whole, strict=True)))


def labelled(corpus: Corpus[GoldExample], count: int, seed: int) -> list[CorrectedExample]:
    """Sentences whose words are labelled, half of them positive for each label; a smaller draw is part of a larger one.

    A count of 0 stands for all of them.
    """
    known = [one for one in corpus.examples if one.word_labels is not None]
    order = [known[i] for i in np.random.default_rng(seed).permutation(len(known)).tolist()]
    if count == 0 or count >= len(order):
        return [corrected(one) for one in order]
    kinds = [[one for one in order if one.labels[0]], [one for one in order if not one.labels[0]]]
    chosen = [*kinds[0][: (count + 1) // 2], *kinds[1][: count // 2]]
    rest = [one for kind, taken in zip(kinds, ((count + 1) // 2, count // 2), strict=True) for one in kind[taken:]]
    return [corrected(one) for one in [*chosen, *rest][:count]]
