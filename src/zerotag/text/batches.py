"""Padded batches of sub-words: the one place that lays them out, for training, labelling and explaining alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerotag.types import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Padded windows for the encoder, and how its output becomes sentences again.

    W windows of L sub-words make S sentences of T tokens. Where each sentence fits one window, the two are the same
    grid and `stitch` is None; otherwise `stitch[s, t]` is token t of sentence s in the flattened (W × L) output.
    """

    input_ids: IntArray  # (W, L)
    attention_mask: IntArray  # (W, L)
    token_mask: NDArray[np.bool_]  # (S, T): tokens of words; special ones and padding are left out
    sentence_of_window: IntArray  # (W,)
    stitch: IntArray | None  # (S, T)
    extra: Mapping[str, IntArray] = field(default_factory=dict)  # (W, L, ...): what else the encoder takes, by name


class Frame(NamedTuple):
    """What stands around the own sub-words of every row of a batch: special ones, and padding up to the longest row."""

    prefix: IntArray
    suffix: IntArray
    padding: int
    attends_to_suffix: bool = False
    """Whether the special sub-words at the end count among those of words."""

    @property
    def size(self) -> int:
        """Sub-words that are added to each row."""
        return len(self.prefix) + len(self.suffix)

    def batch(self, ids: IntArray, attended: BoolArray, lengths: IntArray, *, row_length: int = 0) -> Batch:
        """A batch of rows of so many `lengths`, whose `ids` follow one another; `attended` says which are of words.

        Rows are padded to the longest of them, or to `row_length` if that is more.
        """
        before = len(self.prefix)
        longest, lengths = int(lengths.max()), lengths[:, None]
        own = np.arange(longest) < lengths
        after = before + lengths + np.arange(len(self.suffix))
        shape = len(lengths), max(longest + self.size, row_length)
        input_ids = np.full(shape, self.padding, np.int64)
        input_ids[:, :before] = self.prefix
        input_ids[:, before : before + longest][own] = ids
        np.put_along_axis(input_ids, after, self.suffix[None], axis=1)
        token_mask = np.zeros(shape, np.bool_)
        token_mask[:, before : before + longest][own] = attended
        np.put_along_axis(token_mask, after, self.attends_to_suffix, axis=1)
        filled = np.arange(shape[1]) < lengths + self.size
        return Batch(input_ids, filled.astype(np.int64), token_mask, np.arange(len(lengths)), None)
