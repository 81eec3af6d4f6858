"""Argilla: records with suggestions, as `dataset.records.from_json` takes them, and responses from `to_json`.

Questions are called `spans` (a span question about the field `text`) and `labels` (a multi-label question).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zerotag.io.annotation.annotated import Object, list_reader, spans_of
from zerotag.io.writers import WriterSpec
from zerotag.io.writers.jsonl import encode, record
from zerotag.io.writers.style import Style
from zerotag.types import Labelled

_AGENT = "zerotag"


def render(results: Iterable[Labelled], style: Style) -> Iterator[str]:
    """Records with a suggestion for each question, as a list of JSON.

    They have no id: Argilla replaces records that have the id of a new one, and several files may go into one dataset.
    """
    before = "[\n"
    for one in results:
        spans = record(one, style.label_names)["spans"]
        values = [{key: span[key] for key in ("start", "end", "label")} for span in spans]
        scores = [span["score"] for span in spans] or None
        suggestions: dict[str, Any] = {"spans": {"value": values, "score": scores, "agent": _AGENT}}
        if one.labels:
            suggestions["labels"] = {"value": list(one.labels), "score": None, "agent": _AGENT}
        item = {
            "fields": {"text": one.text},
            "metadata": {"score": round(one.score, 6)},
            "suggestions": suggestions,
            "responses": {},
            "vectors": {},
        }
        yield f"{before}{encode(item)}"
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def _convert(one: Object, text_column: str) -> dict[str, Any]:
    """What was submitted of a record.

    Exports do not tell which answers are drafts, but drafts and discarded answers complete no record.
    """
    unsaid = "submitted" if one.get("status", "completed") == "completed" else "draft"
    fields = one["fields"]
    found: dict[str, Any] = {"text": fields[text_column] if text_column in fields else fields["text"]}
    for question, answers in (one.get("responses") or {}).items():
        submitted = [answer for answer in answers if answer.get("status", unsaid) == "submitted"]
        if not submitted:
            continue
        value = submitted[-1]["value"]
        about_spans = question == "spans" or (isinstance(value, list) and any(isinstance(v, Mapping) for v in value))
        found["spans" if about_spans else "label"] = spans_of(value) if about_spans else value
    return found


READER = list_reader(_convert)
WRITER = WriterSpec(suffix=None, render=render)
