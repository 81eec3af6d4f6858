"""Methods that score words, behind one small protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from zerotag.types import Scored, Sentence


class Scorer(Protocol):
    """One finite score per word and label, whatever the length; the same alone or in any batch."""

    @property
    def name(self) -> str:
        """What tables call the method."""

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores of each sentence, in the order they come."""
