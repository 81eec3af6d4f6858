"""Texts to sub-words, many at once. What stands between two spaces is looked up where it was met before."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from itertools import chain
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np
from tokenizers import Encoding, Tokenizer

from zerotag.types import IntArray

_REMEMBERED = 50_000  # chunks, some 20 MB: most of what running text has
_LONGEST = 64  # characters of a chunk that is worth remembering


class Tokens(NamedTuple):
    """Sub-words of many texts in a row; where they start and end counts as if each text had one more character."""

    ids: IntArray
    starts: IntArray
    ends: IntArray
    counts: IntArray  # of each text


class Tokenize(Protocol):
    """Turns texts into sub-words."""

    def __call__(self, texts: Sequence[str]) -> Tokens:
        """The sub-words of all texts."""


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
        encodings = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        lengths = np.array([len(text) + 1 for text in texts], np.int64)
        return _joined([*map(_Chunk.of, encodings)], lengths)


class BetweenSpaces:
    """Remembers what the tokenizer makes of the chunks between spaces, of which running text has few different ones.

    Much faster than the tokenizer, which spends its time on normalising the same words again and again.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, _Chunk] = {}
        self._lock = Lock()

    def __call__(self, texts: Sequence[str]) -> Tokens:
        """The sub-words of all texts."""
        by_text = [text.split(" ") for text in texts]
        chunks = [*chain.from_iterable(by_text)]
        found = self._look_up(chunks)
        tokens = _joined(found, np.fromiter(map(len, chunks), np.int64, len(chunks)) + 1)
        ends = np.cumsum([0, *map(len, by_text)])
        before = np.concatenate([[0], np.cumsum(tokens.counts)])
        return tokens._replace(counts=np.diff(before[ends]))

    def _look_up(self, chunks: Sequence[str]) -> list[_Chunk]:
        with self._lock:  # several threads may label with one model
            known = self._known
            new = [*{chunk for chunk in chunks if chunk not in known}]
            encodings = self._tokenizer.encode_batch(new, add_special_tokens=False)
            known.update(zip(new, map(_Chunk.of, encodings), strict=True))
            found = [known[chunk] for chunk in chunks]
            for chunk in new:
                if len(chunk) > _LONGEST:
                    del known[chunk]
            if len(known) > _REMEMBERED:
                known.clear()
        return found

    def __reduce__(self) -> tuple[type[BetweenSpaces], tuple[Tokenizer]]:
        return BetweenSpaces, (self._tokenizer,)  # copies begin with nothing, and have a lock of their own


class _Chunk(NamedTuple):
    """Sub-words of a piece of text, and where each starts and ends in it: as bytes, since these are small and quick."""

    ids: bytes
    offsets: bytes

    @classmethod
    def of(cls, encoding: Encoding) -> _Chunk:
        offsets = array("i", chain.from_iterable(encoding.offsets))
        return cls(array("i", encoding.ids).tobytes(), offsets.tobytes())


def _joined(chunks: Sequence[_Chunk], lengths: IntArray) -> Tokens:
    """The sub-words of chunks that follow one another, each of some length."""
    counts = np.fromiter([len(chunk.ids) for chunk in chunks], np.int64, len(chunks)) // array("i").itemsize
    ids = np.frombuffer(b"".join([chunk.ids for chunk in chunks]), np.intc)
    offsets = np.frombuffer(b"".join([chunk.offsets for chunk in chunks]), np.intc).reshape(-1, 2)
    starts, ends = offsets.T + np.repeat(np.cumsum(lengths) - lengths, counts)
    return Tokens(ids.astype(np.int64), starts, ends, counts)
