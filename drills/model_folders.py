"""Mutated model folders: each is loaded, or refused with one line, in bounded time and memory, and nothing runs."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from drills.drill import Attempt, Drill, Problem
from drills.folder_mutations import draw_mutation
from drills.isolated import Isolated

_TEXTS = (["the", "pump", "may", "fail", "."], ["our", "engine", "works", "at", "night"], ["valve"] * 100)
_MEGABYTES = 1.0  # a folder of a tiny model has less
Scores = list[list[float]]


def drills() -> list[Drill]:
    """One of folders for torch, one of folders for ONNX Runtime."""
    return [Drill(f"model folders, {kind}", 700, partial(_prepared, kind)) for kind in ("torch", "onnx")]


@contextmanager
def _prepared(kind: str, scratch: Path) -> Iterator[Attempt]:
    base = _build(kind, scratch / "base")
    files = tuple(sorted(file.name for file in base.iterdir() if file.name != "README.md"))
    load = Isolated(_scores, "torch", "transformers.models.bert.modeling_bert", "onnxruntime")
    expected = load(base).value
    assert expected is not None, f"{base} does not load"

    def attempt(draw: random.Random) -> Iterator[Problem | None]:
        mutation = draw_mutation(draw, files)
        with tempfile.TemporaryDirectory(dir=scratch) as place:
            folder = shutil.copytree(base, Path(place, "model"))
            mutation.apply(folder)
            outcome = load(folder, _MEGABYTES)
        if outcome.kind == "done" and not mutation.resealed and outcome.value != expected:
            yield Problem("lost", f"{mutation.name}: other scores without a word")
        else:
            yield outcome.problem(mutation.name)

    try:
        yield attempt
    finally:
        load.stop()


def _build(kind: str, place: Path) -> Path:
    """A folder of a tiny model."""
    import tiny
    from zerotag.inference.onnx_export import export

    labeller = tiny.labeller(labels=("hedge", "doubt"))
    if kind == "onnx":
        export(labeller, place)
    else:
        labeller.save_pretrained(place)
    return place


def _scores(folder: Path) -> Scores:
    from zerotag.labeller import load
    from zerotag.types import Sentence

    scored = load(folder, device="cpu").score(map(Sentence.from_words, _TEXTS))
    return [[*one.sentence_scores, *one.word_scores.ravel().tolist()] for one in scored]
