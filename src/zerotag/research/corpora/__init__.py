"""The corpora of the paper: from the files of their official releases to checked `word<TAB>label` splits."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from zerotag.errors import ZerotagError
from zerotag.io.files import whole_folder
from zerotag.research.corpora import bea2019, conll2010, fce
from zerotag.research.corpora.checked import CorpusFacts, Counts, Splits, check
from zerotag.research.corpora.panel import PANEL

__all__ = ["CORPORA", "KNOWN", "Conversion", "CorpusModule", "convert"]


class CorpusModule(Protocol):
    """What each module of this package offers."""

    FACTS: CorpusFacts

    def read_splits(self, source: Path) -> Splits:
        """Read the files of the release, found anywhere below `source`."""


CORPORA: dict[str, CorpusModule] = {"fce": fce, "bea2019": bea2019, "conll2010": conll2010}
"""The paper's corpora by name."""

KNOWN = (*CORPORA, *PANEL)
"""Corpora whose files are known: the paper's, as they were released, and the further ones of the panel."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What `convert` wrote: which corpus, the folder, and what `train.tsv`, `dev.tsv` and `test.tsv` hold."""

    facts: CorpusFacts
    folder: Path
    counts: dict[str, Counts]


def convert(name: str, source: Path, out: Path) -> Conversion:
    """Turn the release of a corpus into `train.tsv`, `dev.tsv` and `test.tsv` in a new folder `out`.

    The splits have the paper's counts of sentences and words, or nothing is written.
    """
    if name not in CORPORA:
        raise ZerotagError(f"no corpus is called {name[:40]!r}; choose one of {', '.join(CORPORA)}")
    if os.path.lexists(out):
        raise ZerotagError(f"{out}: exists already; choose another folder or remove it first")
    corpus = CORPORA[name]
    splits = corpus.read_splits(source)
    counts = check(splits, corpus.FACTS)
    _write(splits, corpus.FACTS, out)
    return Conversion(corpus.FACTS, out, counts)


def _write(splits: Splits, facts: CorpusFacts, out: Path) -> None:
    with whole_folder(out) as new:
        for split, sentences in splits.items():
            with (new / f"{split}.tsv").open("w", encoding="utf-8", newline="\n") as file:
                for sentence in sentences:
                    for word, positive in sentence:
                        file.write(f"{word}\t{facts.positive if positive else facts.negative}\n")
                    file.write("\n")
