"""One JSON record per sentence and line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from zerotag.render.style import Style
from zerotag.types import Labelled, Word

_DECIMALS = 6
# Lone surrogates cannot be written as UTF-8; the others are line breaks for some readers, though not for JSON.
_NEEDS_ESCAPE = re.compile("[\ud800-\udfff\u0085\u2028\u2029]")


def render(results: Iterable[Labelled], style: Style) -> Iterator[str]:
    """The results as JSON lines."""
    for labelled in results:
        yield encode(record(labelled, style.label_names)) + "\n"


def record(labelled: Labelled, label_names: Sequence[str]) -> dict[str, Any]:
    """The result as plain data; `start` and `end` count characters (code points) of `text`.

    `score` and `label` are those of the strongest label; models of several labels also give `scores` and `labels`.
    """
    several = len(label_names) > 1
    return {
        "text": labelled.text,
        **_verdict(labelled, several),
        "words": [
            {"text": word.text, "start": word.start, "end": word.end, **_verdict(word, several)}
            for word in labelled.words
        ],
        "spans": [
            {
                "text": span.text,
                "start": span.start,
                "end": span.end,
                "label": span.label,
                "score": _rounded(span.score),
            }
            for span in labelled.spans
        ],
    }


def encode(data: Mapping[str, Any]) -> str:
    """A record as one line of JSON that any UTF-8 file can hold and that reads back as the same strings."""
    line = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return _NEEDS_ESCAPE.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def _verdict(scored: Labelled | Word, several: bool) -> dict[str, Any]:
    verdict: dict[str, Any] = {"score": _rounded(scored.score), "label": scored.label}
    if several:
        verdict["scores"] = {name: _rounded(score) for name, score in scored.scores.items()}
        verdict["labels"] = list(scored.labels)
    return verdict


def _rounded(score: float) -> float:
    return round(score, _DECIMALS) + 0.0  # no "-0.0"
