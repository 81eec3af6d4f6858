"""Texts to sub-words, many at once. What stands between two spaces is looked up where it was met before."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import chain
from threading import Lock
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from zerotag.columns import pairs
from zerotag.types import IntArray

REMEMBERED = 50_000  # chunks, some 10 MB: most of what running text has
_LONGEST = 64  # characters of a chunk that is worth remembering


class Tokens(NamedTuple):
    """Sub-words of many texts in a row; where they start and end counts as if each text had one more character."""

    ids: IntArray
    starts: IntArray
    ends: IntArray
    counts: IntArray  # of each text


Tokenize = Callable[[Sequence[str]], Tokens]
"""Turns texts into sub-words."""


def tokenize_with(tokenizer: Tokenizer) -> Tokenize:
    """The fastest way that gives what the tokenizer gives."""
    return BetweenSpaces(tokenizer) if parts_at_spaces(tokenizer) else WholeTexts(tokenizer)


def parts_at_spaces(tokenizer: Tokenizer) -> bool:
    """Whether text between two spaces has the same sub-words alone as in its sentence: so it is for those of BERT.

    Added tokens could reach over a space: there may only be special ones, and those must be no more than their text.
    """
    parts = json.loads(tokenizer.to_str())
    kinds = [(parts[name] or {}).get("type") for name in ("normalizer", "pre_tokenizer", "model")]
    only_special = all(token["special"] for token in parts["added_tokens"])
    by_word = kinds == ["BertNormalizer", "BertPreTokenizer", "WordPiece"]
    return by_word and only_special and bool(tokenizer.encode_special_tokens)


class WholeTexts:
    """Asks the tokenizer, which works in parallel."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __call__(self, texts: Sequence[str]) -> Tokens:
        """The sub-words of all texts."""
        return _Pieces.of(self._tokenizer, texts).in_a_row(np.arange(len(texts)))


class BetweenSpaces:
    """Remembers what the tokenizer makes of the chunks between spaces, of which running text has few different ones.

    Much faster than the tokenizer, which spends its time on normalising the same words again and again.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, int] = {}
        """The number of each chunk among the pieces."""
        self._pieces = _Pieces.of(tokenizer, [])
        self._lock = Lock()

    def __call__(self, texts: Sequence[str]) -> Tokens:
        """The sub-words of all texts."""
        tokens = self._look_up(" ".join(texts).split(" ") if texts else [])
        chunks = np.fromiter([text.count(" ") + 1 for text in texts], np.int64, len(texts))
        ends = np.concatenate([[0], np.cumsum(tokens.counts)])[np.cumsum(chunks)]
        return tokens._replace(counts=np.diff(ends, prepend=0))

    def _look_up(self, chunks: Sequence[str]) -> Tokens:
        with self._lock:  # several threads may label with one model
            known = self._known
            new = sorted({*chunks}.difference(known), key=len)
            if new:
                known.update(zip(new, range(len(known), len(known) + len(new)), strict=True))
                self._pieces = self._pieces.followed_by(_Pieces.of(self._tokenizer, new))
            found = self._pieces.in_a_row(np.fromiter(map(known.__getitem__, chunks), np.int64, len(chunks)))
            too_long = new[bisect_right(new, _LONGEST, key=len) :]
            for chunk in too_long:
                del known[chunk]
            if len(known) > REMEMBERED:
                known.clear()
            if too_long or not known:
                self._pieces = self._pieces.first(len(known))
        return found

    def __reduce__(self) -> tuple[type[BetweenSpaces], tuple[Tokenizer]]:
        return BetweenSpaces, (self._tokenizer,)  # copies begin with nothing, and have a lock of their own


class _Pieces(NamedTuple):
    """Pieces of text with their sub-words, one after the other."""

    ids: IntArray  # (sub-words,)
    offsets: IntArray  # (sub-words, 2): where each starts and ends in its piece
    starts: IntArray  # (pieces,): where its sub-words begin
    counts: IntArray  # (pieces,): how many there are
    lengths: IntArray  # (pieces,): its characters

    @classmethod
    def of(cls, tokenizer: Tokenizer, pieces: Sequence[str]) -> _Pieces:
        """What the tokenizer, which works in parallel, makes of some."""
        encodings = tokenizer.encode_batch(pieces, add_special_tokens=False)
        ids = [encoding.ids for encoding in encodings]
        counts = np.fromiter(map(len, ids), np.int64, len(ids))
        return cls(
            np.fromiter(chain.from_iterable(ids), np.int64, counts.sum()),
            pairs(encoding.offsets for encoding in encodings),
            np.cumsum(counts) - counts,
            counts,
            np.fromiter(map(len, pieces), np.int64, len(pieces)),
        )

    def followed_by(self, more: _Pieces) -> _Pieces:
        """These, and others behind them."""
        more = more._replace(starts=more.starts + len(self.ids))
        return _Pieces(*map(np.concatenate, zip(self, more, strict=True)))

    def first(self, count: int) -> _Pieces:
        """The first of them."""
        subwords = int(self.counts[:count].sum())
        return _Pieces(*(column[:subwords] for column in self[:2]), *(column[:count] for column in self[2:]))

    def in_a_row(self, numbers: IntArray) -> Tokens:
        """The sub-words of texts that are these pieces."""
        counts, lengths = self.counts[numbers], self.lengths[numbers] + 1
        places = np.repeat(self.starts[numbers] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        starts, ends = (self.offsets[places] + np.repeat(np.cumsum(lengths) - lengths, counts)[:, None]).T
        return Tokens(self.ids[places], starts, ends, counts)
