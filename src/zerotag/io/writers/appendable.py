"""Results as bytes that are appended chunk by chunk: the file is the same however often writing was interrupted."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from zerotag.decisions import decide
from zerotag.errors import ZerotagError
from zerotag.io import PACKED
from zerotag.io.writers import jsonl, parquet, tsv
from zerotag.io.writers.jsonl import Origin
from zerotag.io.writers.style import Style
from zerotag.types import Labelled, Scored

if TYPE_CHECKING:
    import pyarrow as pa

_BY_SUFFIX = {".jsonl": "jsonl", ".tsv": "tsv", ".html": "html", ".txt": "text", ".parquet": "parquet"}
_APPENDABLE = ("jsonl", "tsv", "parquet")


class Form(NamedTuple):
    """What an output looks like: its format, how it is packed (.gz, .zst), whether records say their origin."""

    format: str
    packing: str = ""
    origins: bool = False

    @property
    def is_appendable(self) -> bool:
        """Whether its chunks do not depend on one another, so that somebody can go on with half of it."""
        return self.format in _APPENDABLE

    def pack(self, data: bytes) -> bytes:
        """Compress data so that more of the same may follow it: as a gzip member, a zstd frame."""
        if self.packing == ".gz":
            return gzip.compress(data, 6, mtime=0)
        if self.packing == ".zst":
            import pyarrow as pa  # here, because it is slow to load and few need it

            return cast(bytes, pa.compress(data, "zstd", asbytes=True))
        return data


def form_for(out: Path | None, asked: str | None, *, otherwise: str, origins: bool) -> Form:
    """The form that was asked for, else the one the file's name tells, else (for standard output) another one."""
    if out == Path("-"):
        raise ZerotagError("--out - is not needed: without --out results go to standard output")
    packing = out.suffix.lower() if out and out.suffix.lower() in PACKED else ""
    form = Form(asked or (_told_by(out, packing) if out else otherwise), packing, origins)
    if form.format not in _BY_SUFFIX.values():
        raise ZerotagError(f"unknown format {form.format!r}; allowed: {', '.join(_BY_SUFFIX.values())}")
    if form.format == "parquet" and out is None:
        raise ZerotagError("Parquet cannot go to standard output; name a file with --out")
    if form.format == "parquet" and packing:
        raise ZerotagError(f"{out}: Parquet is compressed inside; leave out {packing}")
    return form


def _told_by(out: Path, packing: str) -> str:
    """The format that a file's name tells; JSON lines if it has no suffix."""
    suffix = (out.with_suffix("") if packing else out).suffix.lower()
    if suffix and suffix not in _BY_SUFFIX:
        raise ZerotagError(
            f"{out}: unknown suffix {suffix!r}; those known are {', '.join(_BY_SUFFIX)}; "
            f"or say which format it is with --format: {', '.join(_BY_SUFFIX.values())}"
        )
    return _BY_SUFFIX.get(suffix, "jsonl")


def decided(scored: Iterable[Scored], style: Style) -> Iterator[Labelled]:
    """Results as renderers take them."""
    return (decide(one, style.label_names, style.rules) for one in scored)


@dataclass(frozen=True, slots=True)
class Encoder:
    """How results become the bytes of an appendable form; worker processes have it, too."""

    form: Form
    style: Style

    @property
    def beginning(self) -> bytes:
        """What comes before the first results."""
        return cast(bytes, self._schema().serialize().to_pybytes()) if self.form.format == "parquet" else b""

    @property
    def assemble(self) -> Callable[[Path, Path], None] | None:
        """How a file is made of all the bytes, if they are not yet one."""
        return parquet.assemble if self.form.format == "parquet" else None

    def encode(self, scored: Sequence[Scored], origins: Sequence[Origin]) -> bytes:
        """The bytes of some results, none for none."""
        if not scored:
            return b""
        shown = origins if self.form.origins else None
        if self.form.format == "parquet":
            return parquet.batch(list(decided(scored, self.style)), self.style, self._schema(), shown)
        if self.form.format == "tsv":
            pieces = tsv.render(decided(scored, self.style), self.style)
        else:
            pieces = jsonl.render_scored(scored, self.style, shown)
        return self.form.pack("".join(pieces).encode())

    def _schema(self) -> pa.Schema:
        return parquet.schema(self.style.label_names, origins=self.form.origins)


def encoder(form: Form, style: Style) -> Encoder:
    """The encoder of an appendable form."""
    return Encoder(form, style)
