"""doccano: JSON lines of its projects for sequence labelling, text classification, and both at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from zerotag.io.annotation.annotated import Object, line_reader, spans_of
from zerotag.io.writers import WriterSpec, encode_with
from zerotag.io.writers.jsonl import encode
from zerotag.io.writers.style import Style
from zerotag.types import Labelled


def render(results: Iterable[Labelled], style: Style) -> Iterator[str]:  # noqa: ARG001
    """A text in each line, with its spans and the labels of the sentence, for projects of either kind.

    Those for words alone read `label`, those for words and sentences `entities` and `cats`.
    """
    for one in results:
        spans = [[span.start, span.end, span.label] for span in one.spans]
        yield encode({"text": one.text, "label": spans, "entities": spans, "cats": list(one.labels)}) + "\n"


def _convert(one: Object, text_column: str) -> dict[str, Any]:
    """What a project says of a text.

    An export also has what of the imported file the project has no use for, unchanged: `cats` where spans alone are
    labelled, `label` where it is `entities` that count.
    """
    found: dict[str, Any] = {"text": one[text_column] if text_column in one else one["text"]}
    if "entities" in one:
        found["spans"] = spans_of(one["entities"])
        if "cats" in one and "relations" not in one:
            found["label"] = one["cats"]
        return found
    given = one.get("label", one.get("labels", []))
    given = given if isinstance(given, list) else [given]
    names = [label for label in given if isinstance(label, str)]
    if names:  # a project that labels texts alone says nothing of words
        found["label"] = names
    else:
        found["spans"] = spans_of(given)
    return found


READER = line_reader(_convert)
WRITER = WriterSpec(suffix=None, render=render, encode=encode_with(render))
