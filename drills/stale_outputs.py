"""`label --resume` after something has changed: what was made otherwise is refused, and never called complete.

An output is finished, or a run is killed half-way; then the model, the input or an argument changes, or nothing does.
Edits of the input keep its size and its times.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from drills.drill import Attempt, Drill, Problem
from drills.isolated import Isolated, LostError

_CASES = 300
_SENTENCES = 60
_FORMS = ("jsonl", "tsv", "parquet", "jsonl.zst", "tsv.gz")
_CHANGES = {
    "nothing": (),
    "input": (),
    "model": (),
    "threshold": ("--threshold", "0.7"),
    "method": ("--method", "random"),
    "origins": ("--source",),
    "text column": ("--text-column", "body"),
    "input format": ("--input-format", "text"),
}


def drills() -> list[Drill]:
    """One of all forms of output."""
    return [Drill("stale outputs", _CASES, _prepared)]


@dataclass(frozen=True, slots=True)
class _Case:
    folder: Path
    form: str
    stopped_after: int | None
    """Chunks; None: it was finished."""
    change: str
    place: float
    """Of an edit, in what was read."""


@contextmanager
def _prepared(scratch: Path) -> Iterator[Attempt]:
    import tiny

    base = scratch / "base"
    for name, label in (("model", "hedge"), ("other", "doubt")):
        tiny.labeller(labels=(label,)).save_pretrained(base / name)
    (base / "in.txt").write_text("".join(f"{' '.join(words)}\n" for words, _ in tiny.sentences(_SENTENCES)))
    use = Isolated(_resume, "torch", "transformers.models.bert.modeling_bert")

    def attempt(draw: random.Random) -> Iterator[Problem | None]:
        folder = scratch / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(base, folder)
        stopped = draw.choice((None, draw.randrange(1, 6)))
        case = _Case(folder, draw.choice(_FORMS), stopped, draw.choice([*_CHANGES]), draw.random())
        yield use(case).problem(f"{case.form}, stopped after {stopped}, then another {case.change}")

    try:
        yield attempt
    finally:
        use.stop()


def _resume(case: _Case) -> None:
    out = case.folder / f"out.{case.form}"
    model, source = case.folder / "model", case.folder / "in.txt"
    command = ("label", model, source, "--out", out)
    assert _command(*command, stop_after=case.stopped_after)[0] == (0 if case.stopped_after is None else 130)
    written = out.read_bytes() if out.exists() else None
    read = source.stat().st_size
    if case.stopped_after is not None:
        read = min(read, case.stopped_after * read // 10)  # ten of sixty sentences in a chunk, of any length
    if case.change == "input":
        _edit(source, int(case.place * read))
    if case.change == "model":
        shutil.rmtree(model)
        shutil.copytree(case.folder / "other", model)
    code, said = _command(*command, "--resume", *_CHANGES[case.change])
    if case.change == "nothing":
        anew = case.folder / f"anew.{case.form}"
        assert _command("label", model, source, "--out", anew)[0] == 0
        if code or out.read_bytes() != anew.read_bytes():
            raise LostError(f"going on gives exit code {code} and another output: {said[-200:]}")
    elif code != 2 or (out.read_bytes() if out.exists() else None) != written:
        raise LostError(f"exit code {code}: {said[-200:]}")


def _command(*arguments: object, stop_after: int | None = None) -> tuple[int, str]:
    """The exit code of a command that is interrupted after so many chunks, and what it said."""
    from zerotag.bulk.journal import Unfinished
    from zerotag.cli import label, main

    appended = Unfinished.append
    calls = 0

    def append(output: Unfinished, *content: object) -> None:
        nonlocal calls
        appended(output, *content)  # type: ignore[arg-type]
        calls += 1
        if stop_after is not None and calls > stop_after:  # the first is the beginning of the output
            raise KeyboardInterrupt

    said = io.StringIO()
    with (
        mock.patch.object(label, "_AT_ONCE", _SENTENCES // 6),
        mock.patch.object(Unfinished, "append", append),
        mock.patch.object(sys, "argv", ["zerotag", *map(str, arguments)]),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(said),
    ):
        try:
            main()
        except SystemExit as leave:
            return int(leave.code or 0), said.getvalue()
    return 0, said.getvalue()


def _edit(file: Path, at: int) -> None:
    """Change a letter; size and times stay."""
    before, content = file.stat(), bytearray(file.read_bytes())
    while not chr(content[at]).isalpha():
        at -= 1
    content[at] = ord("x") if content[at] != ord("x") else ord("y")
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
