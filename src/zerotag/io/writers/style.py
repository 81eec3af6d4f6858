"""What every renderer has to know besides the sentences themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zerotag.decisions import decide
from zerotag.types import Labelled, Rule, Scored

if TYPE_CHECKING:
    from zerotag.io.model_folder import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The labels of the model, one rule for each, and how to present them."""

    label_names: tuple[str, ...]
    rules: tuple[Rule, ...]
    title: str
    negative: str = "O"
    """How "no label" is written."""
    of_documents: bool = False
    """Whether results are of sentences that were cut out of documents, and say where in them they begin."""
    colour: bool = False
    """Whether the `text` format may use terminal colours."""

    @classmethod
    def of(cls, model: Manifest, title: str, *, of_documents: bool = False, colour: bool = False) -> Style:
        """How the results of a model are presented."""
        return cls(
            label_names=model.label_names,
            rules=model.rules,
            title=title,
            negative=model.negative,
            of_documents=of_documents,
            colour=colour,
        )


Renderer = Callable[[Iterable[Labelled], Style], Iterator[str]]
"""Turns results into pieces of text, about one per sentence, reading no further ahead than it has written."""


def decided(scored: Iterable[Scored], style: Style) -> Iterator[Labelled]:
    """Results as renderers take them."""
    return (decide(one, style.label_names, style.rules) for one in scored)
