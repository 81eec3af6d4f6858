"""The results of several texts: a sequence that also becomes a table."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import accumulate, chain
from operator import eq
from typing import Any, Literal, SupportsIndex, overload

import numpy as np

from zerotag.columns import ScoredColumns
from zerotag.decisions import decide_words, labelled
from zerotag.errors import ZerotagError
from zerotag.io.added_columns import added_table, refuse_collisions
from zerotag.io.in_memory import texts_of
from zerotag.io.tables import Table, as_values
from zerotag.text.segmentation import Segmenter, Text
from zerotag.text.sentences import split_sentences
from zerotag.types import Labelled, Rule, Sentence

LabelAll = Callable[[Sequence[Text]], Sequence[Labelled]]

_AT_ONCE = 1_024  # results that are made together when all are gone through


class LabelledColumns(Sequence[Labelled]):
    """The results of sentences, each made from columns of scores when somebody looks at it."""

    def __init__(self, scored: ScoredColumns, label_names: Sequence[str], rules: Sequence[Rule]) -> None:
        self._scored = scored
        self._word_ends = [0, *np.cumsum(scored.sentences.counts).tolist()]
        self._label_names = label_names
        self._rules = rules
        self._members = range(len(scored.sentences))

    def __len__(self) -> int:
        return len(self._members)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Labelled: ...
    @overload
    def __getitem__(self, place: slice) -> LabelledColumns: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Labelled | LabelledColumns:
        if isinstance(place, slice):
            some = copy.copy(self)
            some._members = self._members[place]
            return some
        number = self._members[place]
        return next(self._made(number, number + 1))

    def __iter__(self) -> Iterator[Labelled]:
        for start in range(0, len(self), _AT_ONCE):
            some = self._members[start : start + _AT_ONCE]
            if some.step == 1:
                yield from self._made(some[0], some[-1] + 1)
            else:
                yield from (self[number] for number in range(start, start + len(some)))

    def _made(self, first: int, last: int) -> Iterator[Labelled]:
        """The results of neighbours."""
        part = self._scored.part(slice(first, last), slice(self._word_ends[first], self._word_ends[last]))
        # Lists of numbers, since looking at them one by one is slow in arrays; none of lists, which slow down Python.
        given = decide_words(part.word_scores, self._rules).T.tolist()
        scores = part.word_scores.T.tolist()
        end = 0
        for sentence, its_scores in zip(part.sentences.sentences(), part.sentence_scores.tolist(), strict=True):
            start, end = end, end + len(sentence.words)
            columns = [column[start:end] for column in scores], [column[start:end] for column in given]
            yield labelled(sentence, its_scores, *columns, self._label_names, self._rules)


class Results(Sequence[Labelled]):
    """One result for each text, or for each sentence of a document, in their order.

    To look at one makes it: a million results take little more memory than their scores and texts.
    """

    def __init__(self, results: Sequence[Labelled], label_names: Sequence[str]) -> None:
        self._results = results
        self.label_names = tuple(label_names)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Labelled: ...
    @overload
    def __getitem__(self, place: slice) -> Results: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Labelled | Results:
        if isinstance(place, slice):
            return Results(self._results[place], self.label_names)
        return self._results[place.__index__()]

    def __iter__(self) -> Iterator[Labelled]:
        return iter(self._results)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Results | list):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        return f"{type(self).__name__}({[*self]!r})"

    def _repr_html_(self) -> str:
        # Notebooks ask for it; looked up here, since nothing else of a list of results draws.
        html: str = import_module("zerotag.render.notebook").fragments(self, self.label_names)
        return html

    def to_frame(self, by: Literal["text", "word"] = "text") -> Any:
        """A pandas DataFrame with a row for each text (label, score, marked words, spans) or for each word.

        Args:
            by: `word` gives a row for each word: the number of its text, the word, where it is, its scores and label.

        Raises:
            ZerotagError: pandas is not installed.
        """
        if by not in ("text", "word"):
            raise ZerotagError(f"by is {by!r}; it must be 'text' or 'word'")
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise ZerotagError("to_frame needs pandas: pip install pandas") from None
        if by == "word":
            return pd.DataFrame(self._word_rows(), columns=["number", "word", "start", "end", "label", *self._scores()])
        of_documents = any(result.start is not None for result in self)
        columns = added_table(self, self.label_names, prefix="", of_documents=of_documents).to_pydict()
        return pd.DataFrame(columns if of_documents else {"text": [result.text for result in self], **columns})

    def _scores(self) -> list[str]:
        return ["score"] if len(self.label_names) == 1 else [f"score_{name}" for name in self.label_names]

    def _word_rows(self) -> list[tuple[Any, ...]]:
        return [
            (number, word.text, word.start, word.end, "|".join(word.labels) or None, *word.scores.values())
            for number, result in enumerate(self)
            for word in result.words
        ]


def several(texts: Any) -> Iterable[Any]:
    """Texts that are no table: the values of a column, or whatever can be gone through."""
    values = as_values(texts)
    if values is None and (not isinstance(texts, Iterable) or isinstance(texts, bytes)):
        raise TypeError(
            f"texts is of the type {type(texts).__name__}; give a string, a list of strings, or a table (pandas, "
            "polars, pyarrow, datasets) and the name of its column with text=; a file is read first, as by "
            "pandas.read_csv"
        )
    return texts if values is None else values


def of_documents(documents: Sequence[Sentence], label_all: LabelAll, label_names: Sequence[str]) -> list[Results]:
    """The results of the sentences of each document."""
    parts = [[*split_sentences(document)] for document in documents]
    found = label_all([*chain.from_iterable(parts)])
    ends = accumulate(map(len, parts))
    return [Results(found[end - len(its) : end], label_names) for its, end in zip(parts, ends, strict=True)]


def with_results(
    table: Table,
    text: str | None,
    segment: Segmenter,
    label_all: LabelAll,
    label_names: Sequence[str],
    *,
    split: bool = False,
) -> Any:
    """The table with columns added, which are empty where a text is; documents have a row for each sentence."""
    sentences: list[Sentence | None] = texts_of(table, text, segment)
    refuse_collisions("the table", table.names, label_names, of_documents=split)
    if split:
        parts = [[None] if document is None else [*split_sentences(document)] for document in sentences]
        table = table.taken([row for row, its_own in enumerate(parts) for _ in its_own])
        sentences = [*chain.from_iterable(parts)]
    found = iter(label_all([sentence for sentence in sentences if sentence is not None]))
    results = (None if sentence is None else next(found) for sentence in sentences)
    return table.with_columns(added_table(results, label_names, of_documents=split))
