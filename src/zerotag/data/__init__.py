"""Files in, sentences out: one small module per format behind `read`, `read_gold` and `stream`."""

from zerotag.data.columns import Columns
from zerotag.data.reading import read, read_gold, stream
from zerotag.data.rows import MAX_WORD

__all__ = ["MAX_WORD", "Columns", "read", "read_gold", "stream"]
