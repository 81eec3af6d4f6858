"""A development set split off the training sentences: stratified by label, and the same for the same seed.

Sentences with the same text stay together: one that was trained on would say nothing of others.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from zerotag.errors import ZerotagError
from zerotag.types import Corpus, Example


def split(corpus: Corpus[Example], share: float, seed: int) -> tuple[Corpus[Example], Corpus[Example]]:
    """Training and development part; each combination of labels that several texts have is in both."""
    labels_of: dict[str, tuple[bool, ...]] = {}
    for example in corpus.examples:
        labels_of.setdefault(example.sentence.text, example.labels)
    strata: dict[tuple[bool, ...], list[str]] = defaultdict(list)
    for text, labels in labels_of.items():
        strata[labels].append(text)
    random = np.random.default_rng(seed)
    held_out: set[str] = set()
    for labels in sorted(strata):
        members = strata[labels]
        order = random.permutation(len(members)).tolist()
        count = min(max(1, round(share * len(members))), len(members) - 1)
        held_out.update(members[i] for i in order[:count])
    if not held_out:
        raise ZerotagError(
            "no two different training sentences have the same labels: give a development set with --dev"
        )
    return _part(corpus, held_out, inside=False), _part(corpus, held_out, inside=True)


def _part(corpus: Corpus[Example], texts: set[str], *, inside: bool) -> Corpus[Example]:
    examples = tuple(one for one in corpus.examples if (one.sentence.text in texts) == inside)
    return Corpus(corpus.label_names, examples, corpus.negative)
