"""Results as bytes that are appended chunk by chunk: the file is the same however often writing was interrupted."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from zerotag.errors import ZerotagError
from zerotag.io import PACKED
from zerotag.io.writers import WRITERS, Encode, Origin, WriterSpec
from zerotag.io.writers.style import Renderer, Style
from zerotag.types import Labelled, Scored


class Form(NamedTuple):
    """What an output looks like: its format, how it is packed (.gz, .zst), whether records say their origin."""

    format: str
    packing: str = ""
    origins: bool = False
    table: bool = False
    """Whether the table of the input is written, with columns added, when all else is done."""

    @property
    def writer(self) -> WriterSpec:
        """What writes it."""
        return WRITERS.get(self.format)

    @property
    def is_appendable(self) -> bool:
        """Whether its chunks do not depend on one another, so that somebody can go on with half of it."""
        return self.table or self.writer.encode is not None

    def render(self, results: Iterable[Labelled], style: Style) -> Iterator[str]:
        """The results as text, sentence by sentence."""
        return cast(Renderer, self.writer.render)(results, style)

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
    if form.format not in WRITERS:
        raise ZerotagError(f"unknown format {form.format!r}; allowed: {', '.join(WRITERS.names())}")
    if (form.writer.assemble is not None or _only_a_table(form)) and out is None:
        raise ZerotagError(f"{form.format} cannot go to standard output; name a file with --out")
    if (form.writer.assemble is not None or form.format == "xlsx") and packing:
        raise ZerotagError(f"{out}: {form.format} is compressed inside; leave out {packing}")
    return form


def _only_a_table(form: Form) -> bool:
    return form.writer.encode is None and form.writer.render is None


def _told_by(out: Path, packing: str) -> str:
    """The format that a file's name tells; JSON lines if it has no suffix."""
    suffix = (out.with_suffix("") if packing else out).suffix.lower()
    if not suffix:
        return "jsonl"
    known: list[str] = []
    for name in WRITERS.names():
        its_own = WRITERS.get(name).suffix
        if its_own == suffix:
            return name
        known += [] if its_own is None else [its_own]
    raise ZerotagError(
        f"{out}: unknown suffix {suffix!r}; those known are {', '.join(known)}; "
        f"or say which format it is with --format: {', '.join(WRITERS.names())}"
    )


@dataclass(frozen=True, slots=True)
class Encoder:
    """How results become the bytes of an appendable form; worker processes have it, too."""

    form: Form
    style: Style
    table: Callable[[Path, Path], None] | None = None
    """What makes the input's table of JSON lines with origins."""

    @property
    def beginning(self) -> bytes:
        """What comes before the first results."""
        return self.form.writer.begin(self.style, self.form.origins)

    @property
    def assemble(self) -> Callable[[Path, Path], None] | None:
        """How a file is made of all the bytes, if they are not yet one."""
        return self.table or self.form.writer.assemble

    def encode(self, scored: Sequence[Scored], origins: Sequence[Origin]) -> bytes:
        """The bytes of some results, none for none."""
        if not scored:
            return b""
        encode = cast(Encode, self.form.writer.encode)
        return self.form.pack(encode(scored, self.style, origins if self.form.origins else None))


def encoder(form: Form, style: Style, table: Callable[[Path, Path], None] | None = None) -> Encoder:
    """The encoder of an appendable form; `table` makes the table of one that is one."""
    return Encoder(Form("jsonl", origins=True) if form.table else form, style, table)
