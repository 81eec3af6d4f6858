"""Sentences and labels as people hold them in Python, as a corpus to train on, and texts as they hold them to label."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.problems import listed, options_as_arguments, shown
from zerotag.io.reading import read_training_data
from zerotag.io.rows import SPANS, WORD_LABELS, WORDS, Cell, Reject, Row, check_columns, from_record
from zerotag.io.tables import Table, as_table, as_values, is_missing
from zerotag.io.training_data import TrainingData, training_data
from zerotag.text.segmentation import DEFAULT, Segmenter
from zerotag.types import Corpus, Sentence

HELP = (
    "give a file's path, a table (pandas, polars, pyarrow, datasets, a list of dictionaries), a Corpus as "
    "zerotag.read returns it, a list of texts with labels=[...], or a list of (text, label) pairs"
)


@options_as_arguments()
def as_training_data(
    data: Any,
    labels: Iterable[Any] | None = None,
    *,
    text: str | None = None,
    label: str | Sequence[str] | None = None,
    negative: str | Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    segmenter: str = DEFAULT,
    strict: bool = False,
) -> TrainingData:
    """Training data from a path, a table, a corpus, texts with labels, or pairs of both.

    Args:
        data: what holds the sentences.
        labels: one for each text: a name, a list of names, True or False, 1 or 0; None where `data` has them.
        text: the column with the text, where `data` is a file or a table. Default: `text`.
        label: the column with the label, or several 0/1 columns, where `data` is a file or a table; elsewhere the name
            of the label that True means. Default: `label`.
        negative: the label, or labels, that mean "none".
        class_names: what the labels 0, 1, 2 and so on mean, where they are numbers.
        label_names: the labels that are known already, as those of the training set for a development set.
        segmenter: the registered segmenter that splits texts into words.
        strict: refuse data of which a row cannot be used, instead of leaving the row out.

    Raises:
        TypeError: `data` is of another kind.
        ZerotagError: nothing can be used, labels mean nothing, or, with `strict`, a row cannot be used.
    """
    columns = Columns(
        text=text or "text",
        labels=(label,) if isinstance(label, str) else tuple(label or ("label",)),
        negative=(negative,) if isinstance(negative, str) else None if negative is None else tuple(negative),
        class_names=None if class_names is None else tuple(class_names),
        segmenter=segmenter,
    )
    if isinstance(data, str | os.PathLike):
        if labels is not None:
            raise TypeError("labels goes with a list of texts; a file has its own: name their column with label=")
        return read_training_data(Path(data), columns=columns, label_names=label_names, strict=strict)
    if isinstance(data, Corpus):
        return TrainingData(data, len(data))
    table = as_table(data)
    if table is not None:
        if labels is not None:
            raise TypeError("labels goes with a list of texts; a table has its own: name their column with label=")
        columns = _with_known_classes(table, columns)
        return training_data("the table", _table_rows(table, columns), columns, label_names, strict=strict)
    values = as_values(data)
    data = data if values is None else values
    if not isinstance(data, Iterable) or isinstance(data, bytes):
        raise TypeError(f"data is of the type {type(data).__name__}; {HELP}")
    if text is not None:
        raise TypeError("text names a column of a file or a table; a list of texts has none")
    rows = starmap(partial(_pair_row, columns), enumerate(_pairs(data, labels)))
    return training_data("data", rows, columns, label_names, strict=strict)


def texts_of(table: Table, text: str | None, segment: Segmenter) -> list[Sentence | None]:
    """The texts of a table, and None for its empty cells.

    Raises:
        TypeError: a cell is no text.
        ZerotagError: there is no such column.
    """
    name = text or "text"
    _check_names(table)
    if name not in table.names:
        raise ZerotagError(f"the table has no column {shown(name)}; there are {listed(table.names)}; choose with text=")
    return [_text(number, name, value, segment) for number, value in enumerate(table.values(name))]


def _text(number: int, name: str, value: Any, segment: Segmenter) -> Sentence | None:
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        sentence = Sentence.from_words(value)
    elif value is None or isinstance(value, str):
        sentence = segment(value or "")
    else:
        raise TypeError(f"row {number}: {name!r} is {shown(value)}, not a text; choose another column with text=")
    return sentence if sentence.words else None


def _check_names(table: Table) -> None:
    for name in table.names:
        if not isinstance(name, str):
            raise TypeError(f"the column {shown(name)} has no name; give columns names, as in frame.columns = ['text']")
        if list(table.names).count(name) > 1:
            raise ZerotagError(f"two columns of the table are called {shown(name)}; rename one")


def _with_known_classes(table: Table, columns: Columns) -> Columns:
    """The columns with the names of the classes, if the table knows them."""
    _check_names(table)
    check_columns("the table", table.names, columns, labelled=True)
    if columns.says_what_numbers_mean:
        return columns
    column = next((name for name in (columns.labels[0], WORD_LABELS) if name in table.names), None)
    return columns if column is None else replace(columns, class_names=table.class_names(column))


def _table_rows(table: Table, columns: Columns) -> Iterator[Row | Reject]:
    wanted = [columns.text, WORDS, *columns.labels, WORD_LABELS, SPANS]
    names = [name for name in dict.fromkeys(wanted) if name in table.names]
    for number, values in enumerate(zip(*map(table.values, names), strict=True)):
        record = dict(zip(names, values, strict=True))
        try:
            yield from_record(f"row {number}", record, columns, labelled=True)
        except ZerotagError as error:
            yield Reject(str(error), "")


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


def _pair_row(columns: Columns, number: int, pair: tuple[Any, Any]) -> Row | Reject:
    text, value = pair
    if is_missing(text):
        return Reject(f"text {number} is empty", "")
    if not isinstance(text, str | Sentence):
        raise TypeError(f"text {number} is of the type {type(text).__name__}, not a string; {HELP}")
    sentence = text if isinstance(text, Sentence) else columns.split(text)
    if not sentence.words:
        return Reject(f"text {number} has no words: leave it and its label out", "")
    value = value.item() if hasattr(value, "item") else list(value) if isinstance(value, tuple) else value
    where = f"label {number}"
    return Row(where, sentence, (Cell(where, None if is_missing(value) else value, columns.labels[0]),))
