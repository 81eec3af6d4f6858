"""Many texts to words at once: those in plain ASCII, which most are, by arrays of their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerotag.columns import SentenceColumns, pairs
from zerotag.text.segmentation import Segmenter, Text, as_sentence, split
from zerotag.text.segmenters import MAY_BE_WHOLE, split_standard
from zerotag.types import BoolArray, IntArray

_LETTER, _DIGIT, _JOINT, _POINT, _OTHER = range(1, 6)


def _kinds() -> NDArray[np.uint8]:
    """What each ASCII character is to a word; white space and control characters are nothing."""
    kinds = np.zeros(128, np.uint8)
    for code in range(ord("!"), 127):
        character = chr(code)
        kinds[code] = _DIGIT if character.isdigit() else _LETTER if character.isalpha() else _OTHER
    kinds[[ord("'"), ord("-")]] = _JOINT
    kinds[[ord("."), ord(",")]] = _POINT
    return kinds


_KINDS = _kinds()


class _Found(NamedTuple):
    """Words of some of the texts."""

    members: IntArray
    counts: IntArray
    spans: IntArray


def words_of(texts: Sequence[Text], segment: Segmenter) -> SentenceColumns:
    """The words of many texts, as `as_sentence` finds them in each."""
    plain = _in_ascii(texts) if segment in (split, split_standard) else np.zeros(len(texts), np.bool_)
    if segment is split_standard:
        plain[plain] = ~_may_have_whole(_some(texts, plain))
    by_bytes = _plain(np.flatnonzero(plain), _some(texts, plain))
    others = np.flatnonzero(~plain)
    sentences = [as_sentence(texts[i], segment) for i in others.tolist()]
    one_by_one = _Found(
        others,
        np.array([len(sentence.spans) for sentence in sentences], np.int64),
        pairs(sentence.spans for sentence in sentences),
    )
    counts = np.zeros(len(texts), np.int64)
    for found in (by_bytes, one_by_one):
        counts[found.members] = found.counts
    spans = np.empty((counts.sum(), 2), np.int64)
    of_plain = np.repeat(plain, counts)
    spans[of_plain], spans[~of_plain] = by_bytes.spans, one_by_one.spans
    whole: list[str] = [text if isinstance(text, str) else "" for text in texts]
    starts: list[int | None] = [None] * len(texts)
    for i, sentence in zip(others.tolist(), sentences, strict=True):
        whole[i], starts[i] = sentence.text, sentence.start
    return SentenceColumns(whole, counts, spans, starts)


def _in_ascii(texts: Sequence[Text]) -> BoolArray:
    return np.array([isinstance(text, str) and text.isascii() for text in texts], np.bool_)


def _some(texts: Sequence[Text], chosen: BoolArray) -> list[str]:
    """Those of the texts that are chosen, which are strings."""
    return [text for text, is_chosen in zip(texts, chosen.tolist(), strict=True) if is_chosen and isinstance(text, str)]


def _may_have_whole(texts: Sequence[str]) -> BoolArray:
    """Which texts may have an address, or another thing of the web that stays whole."""
    found = np.zeros(len(texts), np.bool_)
    places = [match.start() for match in MAY_BE_WHOLE.finditer("\n".join(texts))]
    if places:
        ends = np.cumsum([len(text) + 1 for text in texts])
        found[np.searchsorted(ends, places, side="right")] = True
    return found


def _plain(members: IntArray, texts: Sequence[str]) -> _Found:
    """The words of texts in ASCII, as `split` finds them: by what each character is, and what its neighbours are."""
    codes = np.frombuffer("\n".join(texts).encode("ascii"), np.uint8)
    kinds = np.concatenate([[np.uint8(0)], _KINDS[codes], [np.uint8(0)]])
    digit = kinds == _DIGIT
    letter = digit | (kinds == _LETTER)
    before, here, after = slice(None, -2), slice(1, -1), slice(2, None)
    inside = letter.copy()
    inside[here] |= (kinds[here] == _JOINT) & letter[before] & letter[after]
    inside[here] |= (kinds[here] == _POINT) & digit[before] & digit[after]
    alone = (kinds[here] > 0) & ~inside[here]
    first = np.flatnonzero(alone | (inside[here] & ~inside[before]))
    end = np.flatnonzero(alone | (inside[here] & ~inside[after])) + 1
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    begins = np.cumsum(lengths) - lengths
    counts = np.diff(np.searchsorted(first, np.append(begins, len(codes) + 1)))
    return _Found(members, counts, np.stack([first, end], axis=1) - np.repeat(begins, counts)[:, None])
