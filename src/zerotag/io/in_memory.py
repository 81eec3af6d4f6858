"""Sentences and labels as people hold them in Python, as a corpus to train on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.labels import LabelScheme
from zerotag.io.reading import read
from zerotag.io.rows import Cell
from zerotag.text.segmentation import split
from zerotag.types import Corpus, Example, Sentence

HELP = (
    "give a file's path, a Corpus as zerotag.read returns it, a list of texts with labels=[...], "
    "or a list of (text, label) pairs"
)


def as_corpus(
    data: Any,
    labels: Iterable[Any] | None = None,
    *,
    text: str | None = None,
    label: str | Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
) -> Corpus[Example]:
    """A corpus from a path, a corpus, texts with labels, or pairs of both.

    Args:
        data: what holds the sentences.
        labels: one for each text: a name, a list of names, True or False, 1 or 0; None where `data` has them.
        text: the column with the text, where `data` is a file. Default: `text`.
        label: the column with the label, or several 0/1 columns, where `data` is a file; elsewhere the name of the
            label that True means. Default: `label`.
        label_names: the labels that are known already, as those of the training set for a development set.

    Raises:
        TypeError: `data` is of another kind.
        ZerotagError: a text or a label is of no use.
    """
    names = (label,) if isinstance(label, str) else tuple(label or ("label",))
    columns = Columns(text=text or "text", labels=names)
    if isinstance(data, str | os.PathLike):
        if labels is not None:
            raise TypeError("labels goes with a list of texts; a file has its own: name their column with label=")
        return read(Path(data), columns=columns, label_names=label_names)
    if isinstance(data, Corpus):
        return data
    if not isinstance(data, Iterable):
        raise TypeError(f"data is a {type(data).__name__}; {HELP}")
    if text is not None:
        raise TypeError("text names a column of a file; a list of texts has none")
    return _from_pairs(_pairs(data, labels), columns, label_names)


def _pairs(data: Iterable[Any], labels: Iterable[Any] | None) -> list[tuple[Any, Any]]:
    texts = list(data)
    if labels is not None:
        given = list(labels)
        if len(given) != len(texts):
            raise ZerotagError(f"there are {len(texts):,} texts and {len(given):,} labels; each text needs one label")
        return list(zip(texts, given, strict=True))
    for number, pair in enumerate(texts):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"data[{number}] is {pair!r:.60}, not a (text, label) pair; {HELP}")
    return [(one, other) for one, other in texts]


def _from_pairs(
    pairs: Sequence[tuple[Any, Any]], columns: Columns, label_names: Sequence[str] | None
) -> Corpus[Example]:
    scheme = LabelScheme(columns, label_names)
    found = []
    for number, (text, value) in enumerate(pairs):
        if not isinstance(text, str | Sentence):
            raise TypeError(f"text {number} is a {type(text).__name__}, not a string; {HELP}")
        sentence = text if isinstance(text, Sentence) else split(text)
        if not sentence.words:
            raise ZerotagError(f"text {number} has no words: leave it and its label out")
        value = value.item() if hasattr(value, "item") else list(value) if isinstance(value, tuple) else value
        cells = (Cell(f"label {number}", value, columns.labels[0]),)
        found.append((sentence, scheme.names(cells)))
    names = scheme.label_names("labels")
    examples = tuple(Example(sentence, tuple(name in given for name in names)) for sentence, given in found)
    return Corpus(names, examples, scheme.negative)
