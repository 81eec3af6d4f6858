"""Files in, sentences out: one small module per format behind `read`, `read_gold`, `stream` and `records`."""

from zerotag.data.columns import Columns
from zerotag.data.reading import read, read_gold, records, stream
from zerotag.data.rows import MAX_WORD, Record, Reject
from zerotag.data.sources import PACKED, START, Position, Source

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
    "read_gold",
    "records",
    "stream",
]
