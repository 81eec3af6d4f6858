"""Which sentences say nearly the same, by the words they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from zerotag.types import Sentence

PARAPHRASE = 0.6  # share of the words of two sentences, taken together, that both have


class Seen:
    """Sentences that were chosen, to tell whether another one is nearly one of them."""

    def __init__(self) -> None:
        self._words: list[frozenset[str]] = []
        self._having: defaultdict[str, list[int]] = defaultdict(list)

    def like(self, sentence: Sentence) -> bool:
        """Whether a sentence shares most of its words with one that was added."""
        words = _words(sentence.words)
        shared: defaultdict[int, int] = defaultdict(int)
        for word in words:
            for number in self._having.get(word, ()):
                shared[number] += 1
        return any(
            count >= PARAPHRASE * (len(words) + len(self._words[number]) - count) for number, count in shared.items()
        )

    def add(self, sentence: Sentence) -> None:
        """Remember a sentence."""
        words = _words(sentence.words)
        for word in words:
            self._having[word].append(len(self._words))
        self._words.append(words)


def _words(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.lower() for word in words)
