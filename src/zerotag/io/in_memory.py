"""Sentences and labels as people hold them in Python, as a corpus to train on, and texts as they hold them to label."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.labels import LabelScheme
from zerotag.io.problems import listed, shown
from zerotag.io.reading import read
from zerotag.io.rows import SPANS, WORD_LABELS, WORDS, Cell, check_columns, from_record
from zerotag.io.tables import Table, as_table, as_values
from zerotag.text.segmentation import split
from zerotag.types import Corpus, Example, Sentence

HELP = (
    "give a file's path, a table (pandas, polars, pyarrow, datasets, a list of dictionaries), a Corpus as "
    "zerotag.read returns it, a list of texts with labels=[...], or a list of (text, label) pairs"
)


def as_corpus(
    data: Any,
    labels: Iterable[Any] | None = None,
    *,
    text: str | None = None,
    label: str | Sequence[str] | None = None,
    negative: str | Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
) -> Corpus[Example]:
    """A corpus from a path, a table, a corpus, texts with labels, or pairs of both.

    Args:
        data: what holds the sentences.
        labels: one for each text: a name, a list of names, True or False, 1 or 0; None where `data` has them.
        text: the column with the text, where `data` is a file or a table. Default: `text`.
        label: the column with the label, or several 0/1 columns, where `data` is a file or a table; elsewhere the name
            of the label that True means. Default: `label`.
        negative: the label, or labels, that mean "none".
        class_names: what the labels 0, 1, 2 and so on mean, where they are numbers.
        label_names: the labels that are known already, as those of the training set for a development set.

    Raises:
        TypeError: `data` is of another kind.
        ZerotagError: a text or a label is of no use.
    """
    columns = Columns(
        text=text or "text",
        labels=(label,) if isinstance(label, str) else tuple(label or ("label",)),
        negative=(negative,) if isinstance(negative, str) else None if negative is None else tuple(negative),
        class_names=None if class_names is None else tuple(class_names),
    )
    if isinstance(data, str | os.PathLike):
        if labels is not None:
            raise TypeError("labels goes with a list of texts; a file has its own: name their column with label=")
        return read(Path(data), columns=columns, label_names=label_names)
    if isinstance(data, Corpus):
        return data
    table = as_table(data)
    if table is not None:
        if labels is not None:
            raise TypeError("labels goes with a list of texts; a table has its own: name their column with label=")
        return _from_table(table, columns, label_names)
    values = as_values(data)
    data = data if values is None else values
    if not isinstance(data, Iterable):
        raise TypeError(f"data is a {type(data).__name__}; {HELP}")
    if text is not None:
        raise TypeError("text names a column of a file or a table; a list of texts has none")
    return _from_pairs(_pairs(data, labels), columns, label_names)


def texts_of(table: Table, text: str | None) -> list[Sentence | None]:
    """The texts of a table, and None for its empty cells.

    Raises:
        TypeError: a cell is no text.
        ZerotagError: there is no such column.
    """
    name = text or "text"
    _check_names(table)
    if name not in table.names:
        raise ZerotagError(f"the table has no column {shown(name)}; there are {listed(table.names)}; choose with text=")
    return [_text(number, name, value) for number, value in enumerate(table.values(name))]


def _text(number: int, name: str, value: Any) -> Sentence | None:
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        sentence = Sentence.from_words(value)
    elif value is None or isinstance(value, str):
        sentence = split(value or "")
    else:
        raise TypeError(f"row {number}: {name!r} is {shown(value)}, not a text; choose another column with text=")
    return sentence if sentence.words else None


def _check_names(table: Table) -> None:
    for name in table.names:
        if not isinstance(name, str):
            raise TypeError(f"the column {shown(name)} has no name; give columns names, as in frame.columns = ['text']")
        if list(table.names).count(name) > 1:
            raise ZerotagError(f"two columns of the table are called {shown(name)}; rename one")


def _from_table(table: Table, columns: Columns, label_names: Sequence[str] | None) -> Corpus[Example]:
    _check_names(table)
    wanted = [columns.text, WORDS, *columns.labels, WORD_LABELS, SPANS]
    names = [name for name in dict.fromkeys(wanted) if name in table.names]
    check_columns("the table", table.names, columns, labelled=True, options=("text=", "label="))
    if columns.class_names is None and len(columns.labels) == 1 and columns.labels[0] in names:
        columns = replace(columns, class_names=table.class_names(columns.labels[0]))
    scheme = LabelScheme(columns, label_names)
    found = []
    for number, values in enumerate(zip(*map(table.values, names), strict=True)):
        row = from_record(f"row {number}", dict(zip(names, values, strict=True)), columns, labelled=True)
        found.append((row.sentence, scheme.names(row.labels or chain.from_iterable(row.word_labels or ()))))
    return _corpus(found, scheme, "the table")


def _pairs(data: Iterable[Any], labels: Iterable[Any] | None) -> list[tuple[Any, Any]]:
    texts = list(data)
    if labels is not None:
        values = as_values(labels)
        given = list(labels) if values is None else values
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
    return _corpus(found, scheme, "labels")


def _corpus(found: Sequence[tuple[Sentence, frozenset[str]]], scheme: LabelScheme, source: str) -> Corpus[Example]:
    names = scheme.label_names(source)
    examples = tuple(Example(sentence, tuple(name in given for name in names)) for sentence, given in found)
    return Corpus(names, examples, scheme.negative)
