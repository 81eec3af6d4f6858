"""Files in, sentences out: one small module per format behind `read`, `read_gold`, `stream` and `records`."""

from zerotag.io.columns import Columns
from zerotag.io.reading import read, read_corrected, read_gold, records, stream
from zerotag.io.rows import MAX_WORD, Record, Reject
from zerotag.io.sources import PACKED, START, Position, Source

__all__ = [
    "MAX_WORD",
    "PACKED",
    "START",
    "Columns",
    "Position",
    "Record",
    "Reject",
    "Source",
    "read",
    "read_corrected",
    "read_gold",
    "records",
    "stream",
]
