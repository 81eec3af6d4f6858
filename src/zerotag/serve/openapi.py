"""What the service offers, in OpenAPI's words, and the page that shows them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from zerotag.serve.settings import Limits

Schema = dict[str, Any]

SERVICE = (
    "Labels words. Send texts to `/v1/label`; each comes back as the record that `zerotag label --format jsonl` "
    "writes. Offsets count Unicode code points."
)

_STRING: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_THRESHOLD: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_FLAG: Schema = {"type": "boolean"}
_MAYBE_LABEL: Schema = {"type": ["string", "null"]}


def _object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _list(of: Schema, **limits: int) -> Schema:
    return {"type": "array", "items": of, **limits}


def _by_name(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


_SEVERAL_LABELS: Mapping[str, Schema] = {"scores": _by_name(_NUMBER), "labels": _list(_STRING)}
_PLACE: Mapping[str, Schema] = {"text": _STRING, "start": _COUNT, "end": _COUNT}
_RECORD = _object(
    {
        "text": _STRING,
        "score": _NUMBER,
        "label": _MAYBE_LABEL,
        "words": _list(_object({**_PLACE, "score": _NUMBER, "label": _MAYBE_LABEL}, _SEVERAL_LABELS)),
        "spans": _list(_object({**_PLACE, "label": _STRING, "score": _NUMBER})),
    },
    _SEVERAL_LABELS,
)
_RULE = _object({"word_threshold": _NUMBER, "sentence_threshold": _NUMBER, "origin": _STRING, "exclusive": _FLAG})
_MODEL = _object(
    {
        "name": _STRING,
        "revision": {**_STRING, "description": "Another one when the model folder was replaced"},
        "labels": _list(_STRING),
        "rules": {**_by_name(_RULE), "description": "By label, for the model's own scores"},
        "segmenter": {**_STRING, "description": "What splits texts into words"},
        "methods": _list(_STRING, minItems=1),
        "rules_by_method": {**_by_name(_by_name(_RULE)), "description": "By method and label: what decides its scores"},
        "default": _FLAG,
        "encoder": _STRING,
        "depth": {"type": ["integer", "null"]},
        "scores": _by_name(_NUMBER),
        "word_labels": {
            **_by_name(_COUNT),
            "description": "Of how many sentences words were labelled, by what learnt from them; empty: zero-shot",
        },
    }
)
_ERROR = _object({"error": _object({"code": _STRING, "message": _STRING}, {"where": _STRING})})


def _answer(description: str, schema: Schema, kind: str = "application/json") -> dict[str, Any]:
    return {"description": description, "content": {kind: {"schema": schema}}}


def _route(summary: str, answer: dict[str, Any], problems: Mapping[int, str], **more: Any) -> dict[str, Any]:
    responses = {
        200: answer,
        **{status: _answer(text, {"$ref": "#/components/schemas/Error"}) for status, text in problems.items()},
    }
    return {"summary": summary, "responses": responses, **more}


_WRONG_HOST = {421: "Called by a name that is not the service's"}
_LOCKED = {**_WRONG_HOST, 401: "The API key is missing or wrong"}
_KEY: dict[str, Any] = {"security": [{"key": []}]}
COMPONENTS: Schema = {
    "schemas": {"Error": _ERROR},
    "securitySchemes": {
        "key": {"type": "http", "scheme": "bearer", "description": "Needed where the service has an API key"}
    },
}

HEALTH = _route("Whether the service runs", _answer("It runs", _object({"status": _STRING})), _WRONG_HOST)
READY = _route(
    "Whether the service takes requests",
    _answer("It does", _object({"status": _STRING, "models": _by_name(_STRING)})),
    _WRONG_HOST,
)
METRICS = _route(
    "Counters for Prometheus",
    _answer("Prometheus' text format", _STRING, "text/plain"),
    _LOCKED,
    openapi_extra=_KEY,
)


def models(limits: Limits) -> dict[str, Any]:
    """Of /v1/models."""
    its_limits = _object(dict.fromkeys(limits.__slots__, _COUNT))
    answer = _answer("Models and limits", _object({"models": _list(_MODEL), "limits": its_limits}))
    return _route("The models, and the largest request that is taken", answer, _LOCKED, openapi_extra=_KEY)


def label(limits: Limits) -> dict[str, Any]:
    """Of /v1/label."""
    text = {"type": "string", "maxLength": limits.characters}
    words = _list({"type": "string", "maxLength": limits.word_characters}, maxItems=limits.words)
    request = _object(
        {"texts": _list({"anyOf": [text, words]}, maxItems=limits.texts)},
        {
            "model": {**_STRING, "description": "A name from /v1/models; the default model if left out"},
            "method": {**_STRING, "description": "One of the model's methods; its first if left out"},
            "threshold": {
                "anyOf": [_THRESHOLD, _by_name(_THRESHOLD)],
                "description": "The score from which words have the label, or one by label; the model's if left out",
            },
        },
    )
    example = {"texts": ["The pump may fail in winter.", ["It", "holds", "."]]}
    answered = {"model": _STRING, "revision": _STRING, "method": _STRING, "results": _list(_RECORD)}
    answer = _answer("One record per text, in order", _object(answered))
    problems = {
        **_LOCKED,
        404: "No such model, or no such method or label of it",
        408: "The request took too long to arrive",
        413: "Larger than the limits in /v1/models",
        415: "Not sent as application/json",
        422: "Not JSON, or not what is asked for here; `where` says what",
        429: "Too much is waiting; try again after Retry-After seconds",
        500: "The service failed",
        503: "The service is ending",
        504: "The answer took too long",
    }
    body = {"required": True, "content": {"application/json": {"schema": request, "example": example}}}
    return _route("Label the words of texts", answer, problems, openapi_extra={"requestBody": body, **_KEY})


def page(document: Mapping[str, Any]) -> str:
    """The description as a page that needs nothing from elsewhere."""
    about = document["info"]
    parts = [f"<h1>{html.escape(about['title'])} service</h1><p>{_prose(about['description'])}</p>"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            heading = _prose(f"`{method.upper()} {path}`")
            parts.append(f"<h2>{heading}</h2><p>{_prose(operation['summary'])}</p>")
            if "requestBody" in operation:
                parts.append(_details("Request", operation["requestBody"]["content"]))
            parts += [
                _details(f"`{status}` {response['description']}", response["content"])
                for status, response in sorted(operation["responses"].items())
            ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>zerotag service</title>'
        '<meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width">'
        '<link rel="icon" href="assets/icon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="assets/theme.css"><link rel="stylesheet" href="assets/docs.css">'
        '<script src="assets/theme.js"></script>'
        f'<main><p><a href=".">The page</a> · <a href="openapi.json">openapi.json</a></p>{"".join(parts)}</main></html>'
    )


def _prose(text: str) -> str:
    """Text with `code` in it."""
    return re.sub("`(.+?)`", r"<code>\1</code>", html.escape(text))


def _details(summary: str, content: object) -> str:
    text = html.escape(json.dumps(content, indent=2, ensure_ascii=False))
    return f"<details><summary>{_prose(summary)}</summary><pre>{text}</pre></details>"
