"""Text files that are packed as their names say."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast


@contextmanager
def packed_text(path: Path, packing: str) -> Iterator[TextIO]:
    """A new text file; `packing` is .gz, .zst, or nothing."""
    with ExitStack() as opened:
        raw: BinaryIO = opened.enter_context(path.open("wb"))
        if packing == ".gz":
            raw = cast(BinaryIO, opened.enter_context(gzip.GzipFile("", "wb", 6, raw, mtime=0)))
        elif packing == ".zst":
            import pyarrow as pa  # here, because it is slow to load and few need it

            raw = cast(BinaryIO, opened.enter_context(pa.CompressedOutputStream(raw, "zstd")))
        with io.TextIOWrapper(raw, encoding="utf-8", newline="") as text:
            yield text
