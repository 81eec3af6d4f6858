"""Labels that exclude one another: a sentence has one of them, and a word argues for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from zerotag.errors import ZerotagError
from zerotag.types import Corpus, Example, Rule


def are_exclusive(corpus: Corpus[Example], asked: bool | Literal["auto"]) -> bool:
    """Whether the labels of a corpus exclude one another: as asked, or if every sentence has exactly one of several.

    Raises:
        ZerotagError: they shall, and do not.
    """
    counts = [sum(example.labels) for example in corpus.examples]
    if asked == "auto":
        return len(corpus.label_names) > 1 and all(count == 1 for count in counts)
    if not asked:
        return False
    if len(corpus.label_names) < 2:
        raise ZerotagError(
            f"there is one label, {corpus.label_names[0]!r}, which excludes no other: leave out exclusive"
        )
    several = sum(count > 1 for count in counts)
    if several:
        raise ZerotagError(
            f"{several:,} of {len(counts):,} training sentences have several labels, which cannot exclude one another: "
            "mend them, or make the labels independent"
        )
    return True


def exclusive_rules(rules: Sequence[Rule], corpus: Corpus[Example]) -> tuple[Rule, ...]:
    """The rules of labels that exclude one another; where every training sentence has a label, every sentence has."""
    always = all(any(example.labels) for example in corpus.examples)
    return tuple(
        replace(rule, exclusive=True, sentence_threshold=0.0 if always else rule.sentence_threshold) for rule in rules
    )
