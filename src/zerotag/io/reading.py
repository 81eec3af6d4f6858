"""From a file to sentences: what training, evaluating and labelling each get to see."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.labels import LabelScheme
from zerotag.io.readers import reader_for
from zerotag.io.rows import WORD_LABELS, Record, Reject, Row
from zerotag.io.sources import START, Position, Source
from zerotag.io.training_data import TrainingData, training_data
from zerotag.types import Corpus, CorrectedExample, Example, GoldExample, Sentence

_DEFAULT = Columns()
_PathLike = str | os.PathLike[str]
_GoldRow = tuple[Sentence, frozenset[str], tuple[frozenset[str], ...] | None]


def read(
    path: _PathLike,
    *,
    text_column: str | None = None,
    label_column: str | Sequence[str] | None = None,
    columns: Columns = _DEFAULT,
    label_names: Sequence[str] | None = None,
) -> Corpus[Example]:
    """Sentences with sentence labels, for training; of word labels only "there is one" gets out of here.

    Args:
        path: the file, of any format that has labels.
        text_column: the column with the text. Default: `text`.
        label_column: the column with the label, or several columns of 0 and 1. Default: `label`.
        columns: all that there is to say of columns and labels.
        label_names: the labels that are known already, as those of the training set for a development set.

    Raises:
        ZerotagError: the file cannot be read, or some of its rows cannot be used; the message has the first of them.
    """
    if text_column is not None:
        columns = replace(columns, text=text_column)
    if label_column is not None:
        columns = replace(columns, labels=(label_column,) if isinstance(label_column, str) else tuple(label_column))
    return read_training_data(path, columns=columns, label_names=label_names, strict=True).corpus


def read_training_data(
    path: _PathLike, *, columns: Columns = _DEFAULT, label_names: Sequence[str] | None = None, strict: bool = False
) -> TrainingData:
    """The same sentences with what is wrong with the others, which are left out unless `strict` refuses them."""
    columns = _with_known_classes(path, columns)
    found = (record.content for record in _records(path, columns, labelled=True))
    return training_data(str(path), found, columns, label_names, strict=strict)


def read_gold(
    path: _PathLike, *, columns: Columns = _DEFAULT, label_names: Sequence[str] | None = None
) -> Corpus[GoldExample]:
    """Sentences with sentence labels and, where the file has them, word labels, for evaluation."""
    columns = _with_known_classes(path, columns)
    scheme = LabelScheme(columns, label_names)
    found = [
        (row.sentence, _sentence_names(row, scheme), _word_names(row, scheme))
        for row in _rows(path, columns, labelled=True)
    ]
    names = scheme.label_names(str(path))
    some_by_word = any(by_word is not None for _, _, by_word in found)

    def flags(given: frozenset[str]) -> tuple[bool, ...]:
        settled = scheme.settled(given)
        return tuple(name in settled for name in names)

    examples = tuple(
        GoldExample(sentence, flags(given), None if by_word is None else tuple(map(flags, by_word)))
        for sentence, given, by_word in (_completed(row, some_by_word) for row in found)
    )
    return Corpus(names, examples, scheme.negative)


def read_corrected(
    path: _PathLike | Sequence[_PathLike], *, columns: Columns = _DEFAULT, label_names: Sequence[str] | None = None
) -> Corpus[CorrectedExample]:
    """Sentences with word labels, to learn from; those of a file that has none on its words are left out.

    A sentence has the labels that it was given and those of its words. Several files are read one after the other.

    Raises:
        ZerotagError: a file cannot be read, or no sentence has labels on its words.
    """
    paths = [path] if isinstance(path, str | os.PathLike) else [*path]
    found: list[CorrectedExample] = []
    negative = "O"
    for one in paths:
        gold = read_gold(one, columns=columns, label_names=label_names)
        label_names, negative = gold.label_names, gold.negative
        found += [corrected(example) for example in gold.examples if example.word_labels is not None]
    if not found:
        raise ZerotagError(
            f"{', '.join(map(str, paths))}: no labels on words; give a file that has some, "
            "as the page, `zerotag suggest` or an annotation tool writes it"
        )
    return Corpus(tuple(label_names or ()), tuple(found), negative)


def corrected(gold: GoldExample) -> CorrectedExample:
    """The sentence as training on word labels takes it; it has the labels of its words, too."""
    assert gold.word_labels is not None
    labels = tuple(own or any(word[k] for word in gold.word_labels) for k, own in enumerate(gold.labels))
    return CorrectedExample(gold.sentence, labels, gold.word_labels)


def stream(
    path: _PathLike | None, *, columns: Columns = _DEFAULT, left_out: list[Reject] | None = None
) -> Iterator[Sentence]:
    """Sentences one after the other, for labelling; from standard input for None and "-".

    Records that cannot be used are refused, or, where there is a list for them, put there.
    The first is read at once, so that a file that cannot be read fails before anything is done with the rest.
    """
    standard_input = path is None or os.fspath(path) == "-"
    rows = _rows(None if standard_input else path, columns, labelled=False, left_out=left_out)
    sentences = (sentence for row in rows for sentence in columns.sentences(row.sentence))
    return chain(list(islice(sentences, 1)), sentences)


def records(source: Source, *, columns: Columns = _DEFAULT, start: Position = START) -> Iterator[Record]:
    """Sentences without labels from a position on, and in their place those that are wrong with the reason."""
    return reader_for(source, columns).records(source, columns, start, labelled=False)


def _with_known_classes(path: _PathLike, columns: Columns) -> Columns:
    """The columns with the names of the classes, if the file knows them."""
    source = Source(Path(path))
    find = reader_for(source, columns).class_names
    if find is None or columns.says_what_numbers_mean:
        return columns
    return replace(columns, class_names=find(source, columns.labels[0]) or find(source, WORD_LABELS))


def _rows(
    path: _PathLike | None, columns: Columns, *, labelled: bool, left_out: list[Reject] | None = None
) -> Iterator[Row]:
    for record in _records(path, columns, labelled=labelled):
        if not isinstance(record.content, Reject):
            yield record.content
        elif left_out is None:
            raise ZerotagError(record.content.reason)
        else:
            left_out.append(record.content)


def _records(path: _PathLike | None, columns: Columns, *, labelled: bool) -> Iterator[Record]:
    source = Source(None if path is None else Path(path))
    empty = True
    for record in reader_for(source, columns).records(source, columns, START, labelled=labelled):
        empty = False
        yield record
    if empty and path is not None:  # an empty pipe is no mistake
        raise ZerotagError(f"{source.name}: no sentences in it; give a file that has some")


def _sentence_names(row: Row, scheme: LabelScheme) -> frozenset[str]:
    return scheme.names(row.labels or chain.from_iterable(row.word_labels or ()), of_words=not row.labels)


def _word_names(row: Row, scheme: LabelScheme) -> tuple[frozenset[str], ...] | None:
    return None if row.word_labels is None else tuple(scheme.names(cells, of_words=True) for cells in row.word_labels)


def _completed(row: _GoldRow, some_by_word: bool) -> _GoldRow:
    """Where others have word labels, the words of a sentence without any label have none either."""
    sentence, given, by_word = row
    if by_word is None and some_by_word and not given:
        return sentence, given, (frozenset(),) * len(sentence.words)
    return row
