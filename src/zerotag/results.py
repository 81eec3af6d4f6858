"""The results of several texts: a list that also becomes a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, Literal, SupportsIndex, overload

from zerotag.errors import ZerotagError
from zerotag.io.added_columns import added_table, refuse_collisions
from zerotag.io.in_memory import texts_of
from zerotag.io.tables import Table, as_values
from zerotag.text.segmentation import Segmenter
from zerotag.types import Labelled, Sentence


class Results(list[Labelled]):
    """One result for each text, in their order."""

    def __init__(self, results: Iterable[Labelled], label_names: Sequence[str]) -> None:
        super().__init__(results)
        self.label_names = tuple(label_names)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Labelled: ...
    @overload
    def __getitem__(self, place: slice) -> Results: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Labelled | Results:
        found = super().__getitem__(place)
        return Results(found, self.label_names) if isinstance(found, list) else found

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
        columns = added_table(self, self.label_names, prefix="").to_pydict()
        return pd.DataFrame({"text": [result.text for result in self], **columns})

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
    if values is None and not isinstance(texts, Iterable):
        raise TypeError(
            f"texts is a {type(texts).__name__}; give a string, a list of strings, or a table (pandas, polars, "
            "pyarrow, datasets) and the name of its column with text="
        )
    return texts if values is None else values


def with_results(
    table: Table,
    text: str | None,
    segment: Segmenter,
    labelled: Callable[[Sequence[Sentence]], Iterator[Labelled]],
    label_names: Sequence[str],
) -> Any:
    """The table with columns added, which are empty where a text is."""
    sentences = texts_of(table, text, segment)
    refuse_collisions("the table", table.names, label_names)
    found = labelled([sentence for sentence in sentences if sentence is not None])
    results = [None if sentence is None else next(found) for sentence in sentences]
    return table.with_columns(added_table(results, label_names))
