"""Many sentences as one row of sub-words, and padded batches of any of them, without an object for every sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from zerotag.text.alignment import Aligner, Batch, Encoded
from zerotag.types import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class SubWords:
    """Sentences one after the other; `others` are those that are not simply padded, by their number.

    Those take several windows, hide words, or have more than sub-words: only their aligner can make batches of them.
    """

    ids: IntArray  # (N,)
    attended: BoolArray  # (N,): sub-words of words
    lengths: IntArray  # (S,)
    others: Mapping[int, Encoded]

    @classmethod
    def of(cls, encoded: Sequence[Encoded], capacity: int) -> SubWords:
        """Sentences of which those with up to `capacity` sub-words fit one window."""
        lengths = np.array([len(one) for one in encoded], np.int64)
        starts = np.cumsum(lengths) - lengths
        pairs = np.repeat(starts, [len(one.pair_tokens) for one in encoded])
        attended = np.zeros(lengths.sum(), np.bool_)
        attended[_joined([one.pair_tokens for one in encoded]) + pairs] = True
        others = {
            number: one
            for number, one in enumerate(encoded)
            if len(one) > capacity or one.hidden is not None or type(one) is not Encoded
        }
        return cls(_joined([one.ids for one in encoded]).astype(np.int32), attended, lengths, others)

    @classmethod
    def joined(cls, parts: Sequence[SubWords]) -> SubWords:
        """All parts as one."""
        first = accumulate((len(part.lengths) for part in parts), initial=0)
        others = {
            before + number: one
            for before, part in zip(first, parts, strict=False)
            for number, one in part.others.items()
        }
        ids, attended, lengths = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("ids", "attended", "lengths")
        )
        return cls(ids, attended, lengths, others)

    @property
    def starts(self) -> IntArray:
        """Where each sentence starts: (S,)."""
        starts: IntArray = np.cumsum(self.lengths) - self.lengths
        return starts

    def places(self, members: IntArray) -> tuple[BoolArray, IntArray]:
        """The cells of a padded grid that hold sub-words of the members, (members, longest), and which they are."""
        lengths = self.lengths[members][:, None]
        column = np.arange(lengths.max())
        own = column < lengths
        return own, (self.starts[members][:, None] + column)[own]


class Frame(NamedTuple):
    """What stands around the sub-words of every sentence in a batch."""

    prefix: IntArray
    suffix: IntArray
    attended_suffix: BoolArray
    padding: int

    @classmethod
    def of(cls, aligner: Aligner) -> Frame:
        """Seen in a batch that the aligner makes of two sentences."""
        one, two = (Encoded(np.zeros(n, np.int64), np.arange(n), np.arange(n), n) for n in (1, 2))
        batch = aligner.batch([one, two])
        offset = aligner.offset
        return cls(
            batch.input_ids[1, :offset],
            batch.input_ids[1, offset + 2 :],
            batch.token_mask[1, offset + 2 :],
            int(batch.input_ids[0, -1]),
        )

    @property
    def size(self) -> int:
        """Sub-words that are added to each sentence."""
        return len(self.prefix) + len(self.suffix)

    def batch(self, subwords: SubWords, members: IntArray) -> Batch:
        """The same batch of some sentences as the aligner would make of them."""
        before = len(self.prefix)
        own, places = subwords.places(members)
        within = slice(before, before + own.shape[1])
        lengths = subwords.lengths[members][:, None]
        after = before + lengths + np.arange(len(self.suffix))
        shape = len(members), own.shape[1] + self.size
        input_ids = np.full(shape, self.padding, np.int64)
        input_ids[:, :before] = self.prefix
        input_ids[:, within][own] = subwords.ids[places]
        np.put_along_axis(input_ids, after, self.suffix[None], axis=1)
        token_mask = np.zeros(shape, np.bool_)
        token_mask[:, within][own] = subwords.attended[places]
        np.put_along_axis(token_mask, after, self.attended_suffix[None], axis=1)
        filled = np.arange(shape[1]) < lengths + self.size
        return Batch(input_ids, filled.astype(np.int64), token_mask, np.arange(len(members)), None)


def _joined(arrays: Iterable[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, np.int64), *arrays])
