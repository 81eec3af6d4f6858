"""Runs over files for the tests of bulk labelling: a scorer that needs no model, chunks of a few records."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from zerotag.bulk.inputs import Inputs
from zerotag.bulk.run import Progress, Run
from zerotag.explain.random import RandomScorer
from zerotag.io import Columns, Source
from zerotag.io.writers.appendable import Form
from zerotag.io.writers.style import Style
from zerotag.types import Rule


def packed(content: bytes, suffix: str, *, parts: int = 3) -> bytes:
    """As the suffix says, in several members or frames."""
    size = len(content) // parts + 1
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    if suffix == ".gz":
        return b"".join(map(gzip.compress, pieces))
    if suffix == ".zst":
        return b"".join(pa.compress(piece, "zstd", asbytes=True) for piece in pieces)
    return content


def unpacked(path: Path) -> bytes:
    """What is in a file once it is unpacked."""
    with Source(path).opened() as file:
        return file.read()


def inputs(*paths: Path, text_column: str = "text") -> Inputs:
    made = Inputs([Source(path) for path in paths], Columns(text=text_column))
    made.check()
    return made


def run(
    *paths: Path,
    at_once: int = 3,
    labels: tuple[str, ...] = ("hedge",),
    strict: bool = False,
    shown: list[Progress] | None = None,
) -> Run:
    """A run whose scores are random, but always the same for the same sentence."""
    return Run(
        inputs=inputs(*paths),
        scorer=RandomScorer(len(labels)),
        label_names=labels,
        rules=[Rule() for _ in labels],
        at_once=at_once,
        strict=strict,
        show=(lambda _: None) if shown is None else shown.append,
    )


def style(labels: Iterable[str] = ("hedge",)) -> Style:
    names = tuple(labels)
    return Style(label_names=names, rules=tuple(Rule() for _ in names), title="a title")


JSONL = Form("jsonl")
