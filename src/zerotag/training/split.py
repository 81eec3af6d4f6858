"""A development set split off the training sentences: stratified by label, and the same for the same seed."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from zerotag.errors import ZerotagError
from zerotag.types import Corpus, Example


def split(corpus: Corpus[Example], share: float, seed: int) -> tuple[Corpus[Example], Corpus[Example]]:
    """Training and development part; each combination of labels that occurs more than once is in both."""
    strata: dict[tuple[bool, ...], list[int]] = defaultdict(list)
    for index, example in enumerate(corpus.examples):
        strata[example.labels].append(index)
    random = np.random.default_rng(seed)
    held_out: set[int] = set()
    for labels in sorted(strata):
        members = random.permutation(strata[labels]).tolist()
        count = min(max(1, round(share * len(members))), len(members) - 1)
        held_out.update(members[:count])
    if not held_out:
        raise ZerotagError("no two training sentences have the same labels: give a development set with --dev")
    return _part(corpus, held_out, inside=False), _part(corpus, held_out, inside=True)


def _part(corpus: Corpus[Example], chosen: set[int], *, inside: bool) -> Corpus[Example]:
    examples = tuple(e for i, e in enumerate(corpus.examples) if (i in chosen) == inside)
    return Corpus(corpus.label_names, examples, corpus.negative)
