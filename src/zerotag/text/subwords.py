"""Many sentences as one row of sub-words, and padded batches of any of them, without an object for every sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from zerotag.columns import SentenceColumns
from zerotag.text.alignment import Aligner, Encoded, EncodedRow
from zerotag.text.batches import Batch, Frame
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
        others = {
            number: one
            for number, one in enumerate(encoded)
            if len(one) > capacity or one.hidden is not None or type(one) is not Encoded
        }
        return cls._of(EncodedRow.of(encoded), others)

    @classmethod
    def of_row(cls, row: EncodedRow, capacity: int) -> SubWords:
        """The same of sentences that are in a row already, and have nothing but sub-words."""
        long = row.tokens > capacity
        return cls._of(
            row, {number: one for number, one in enumerate(row.encoded()) if long[number]} if long.any() else {}
        )

    @classmethod
    def _of(cls, row: EncodedRow, others: Mapping[int, Encoded]) -> SubWords:
        return cls(row.ids.astype(np.int32), row.as_one().attended, row.tokens, others)

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

    def batch(self, frame: Frame, members: IntArray) -> Batch:
        """A padded batch of some of the sentences."""
        _, places = self.places(members)
        return frame.batch(self.ids[places], self.attended[places], self.lengths[members])

    def places(self, members: IntArray) -> tuple[BoolArray, IntArray]:
        """The cells of a padded grid that hold sub-words of the members, (members, longest), and which they are."""
        lengths = self.lengths[members][:, None]
        column = np.arange(lengths.max())
        own = column < lengths
        return own, (self.starts[members][:, None] + column)[own]


def encode_row(aligner: Aligner, sentences: SentenceColumns) -> tuple[SubWords, Encoded]:
    """The sub-words of sentences, as far as they are to be read, and which of them belong to which of all words."""
    if aligner.reads_columns:
        row = aligner.align(sentences)
        return SubWords.of_row(row, aligner.capacity), row.as_one()
    encoded = aligner.encode([*sentences.sentences()])
    return SubWords.of(encoded, aligner.capacity), EncodedRow.of(encoded).as_one()
