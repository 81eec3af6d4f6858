"""Prodigy: tasks as JSON lines, with the words as tokens, and the answers of its exports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from zerotag.io.annotation.annotated import Object, line_reader, spans_of
from zerotag.io.writers import WriterSpec, encode_with
from zerotag.io.writers.jsonl import encode, record
from zerotag.io.writers.style import Style
from zerotag.types import Labelled


def render(results: Iterable[Labelled], style: Style) -> Iterator[str]:
    """A task in each line: words as tokens, spans, and as `accept` the labels of the sentence."""
    for one in results:
        yield encode(_task(one, style.label_names)) + "\n"


def _task(one: Labelled, label_names: Sequence[str]) -> dict[str, Any]:
    starts = {word.start: number for number, word in enumerate(one.words)}
    ends = {word.end: number for number, word in enumerate(one.words)}
    return {
        "text": one.text,
        "tokens": [
            {"text": word.text, "start": word.start, "end": word.end, "id": number, "ws": _space_after(one, word.end)}
            for number, word in enumerate(one.words)
        ],
        "spans": [
            {**span, "token_start": starts[span["start"]], "token_end": ends[span["end"]]}
            for span in record(one, label_names)["spans"]
        ],
        "options": [{"id": name, "text": name} for name in label_names],
        "accept": list(one.labels),
        "meta": {"score": round(one.score, 6)},
    }


def _space_after(one: Labelled, end: int) -> bool:
    return one.text[end : end + 1] == " "


def _convert(one: Object, text_column: str) -> dict[str, Any] | None:
    found: dict[str, Any] = {"text": one[text_column] if text_column in one else one["text"]}
    if "tokens" in one:
        found["words"] = [token["text"] for token in one["tokens"]]
    answer = one.get("answer")
    if answer == "reject" and isinstance(one.get("label"), str):  # of a question about one label
        return {**found, "label": 0}
    if answer != "accept":
        return found  # nobody has said yes to it
    if "spans" in one:
        found["spans"] = spans_of(one["spans"])
    if "accept" in one:
        found["label"] = list(one["accept"])
    elif "label" in one:
        found["label"] = one["label"]
    return found


READER = line_reader(_convert)
WRITER = WriterSpec(suffix=None, render=render, encode=encode_with(render))
