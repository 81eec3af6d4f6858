"""Places where a chunk always begins, so that files can be entered there without reading what comes before.

Chunks follow one another, and where one ends depends on where it began: only a reader of everything would know the
later ones. So every megabyte or more, at the first record that begins a new stride of a file, the count starts anew.
Files are cut by bytes, Parquet by row groups, and what is packed not at all, as it cannot be entered. Small files go
together into chunks until they make up a stride.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from zerotag.io.readers import RowGroup

_SMALLEST_STRIDE = 1 << 20  # bytes
_STRIDE = 1 << 10  # bytes for each record of a chunk: several chunks of usual sentences
NEVER = 1 << 62


class Blocks:
    """The blocks of files of so many bytes, for chunks of so many records."""

    def __init__(self, sizes: Sequence[int], at_once: int) -> None:
        self.stride = max(_SMALLEST_STRIDE, at_once * _STRIDE)
        self._strides_before = [total // self.stride for total in accumulate(sizes, initial=0)]

    def begin_with(self, file: int) -> bool:
        """Whether a block begins with a file."""
        return file == 0 or self._strides_before[file] != self._strides_before[file - 1]

    def byte_cut_after(self, offset: int) -> int:
        """The block after an offset begins with the first record that begins there or later."""
        return (offset // self.stride + 1) * self.stride

    def byte_cuts(self, size: int) -> list[RowGroup]:
        """Where in a file of so many bytes the blocks are to begin, without the first."""
        return [RowGroup(0, byte) for byte in range(self.stride, size, self.stride)]

    def row_cuts(self, groups: Sequence[RowGroup]) -> list[RowGroup]:
        """The row groups that begin a block, without the first."""
        strides = [group.byte // self.stride for group in groups]
        return [group for group, before, own in zip(groups[1:], strides, strides[1:], strict=False) if before != own]


def row_cut_after(cuts: Sequence[RowGroup], row: int) -> int:
    """The row with which the block after another row begins."""
    later = bisect_right(cuts, row, key=lambda group: group.row)
    return cuts[later].row if later < len(cuts) else NEVER
