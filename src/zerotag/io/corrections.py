"""Sentences with word labels as people hold them in Python, for labellers to learn from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io.reading import read_corrected
from zerotag.text.printable import counted
from zerotag.types import Corpus, CorrectedExample

HELP = "give a file's path, what zerotag.read_corrected returns, or the corrected results of a labeller"


def as_corrected(data: Any, *, label_names: Sequence[str]) -> tuple[CorrectedExample, ...]:
    """Sentences with word labels to learn from: of a path, several paths, a corpus, or examples one by one.

    Args:
        data: what holds them.
        label_names: the labels of the model that is to learn.

    Raises:
        TypeError: `data` is of another kind, such as examples that are for training on sentence labels or evaluation.
        ZerotagError: the labels are others, or there are none on words.
    """
    given: Any = [data] if isinstance(data, str | os.PathLike) else data
    if isinstance(given, Corpus):
        if given.label_names != tuple(label_names):
            raise ZerotagError(
                f"these sentences have labels {', '.join(given.label_names)}; this model has {', '.join(label_names)}"
            )
        given = given.examples
    if not isinstance(given, Iterable):
        raise TypeError(f"examples is a {type(data).__name__}; {HELP}")
    found: list[CorrectedExample] = []
    for one in given:
        if isinstance(one, str | os.PathLike):
            found += read_corrected(one, label_names=label_names).examples
        elif type(one) is CorrectedExample:
            found.append(one)
        else:
            raise TypeError(f"word labels are learnt from CorrectedExample, not {type(one).__name__}; {HELP}")
    if not found:
        raise ZerotagError("there is no sentence with word labels among these")
    for example in found:
        _check_shape(example, len(label_names))
    return tuple(found)


def _check_shape(example: CorrectedExample, labels: int) -> None:
    words, flags = len(example.sentence.words), example.word_labels
    if len(flags) != words or len(example.labels) != labels or any(len(word) != labels for word in flags):
        raise ZerotagError(
            f"{example.sentence.text[:40]!r} needs labels for {counted(words, 'word')}, {labels} each: "
            "there are more or fewer"
        )
