"""What the service offers, in OpenAPI's words, and the page that shows them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import models_json_schema

from zerotag.serve.schemas import Error, label_request
from zerotag.serve.settings import Limits

SERVICE = (
    "Labels words. Send texts to `/v1/label`; each comes back as the record that `zerotag label --format jsonl` "
    "writes. Offsets count Unicode code points."
)
KEY: dict[str, Any] = {"security": [{"key": []}]}
_NAMED = "#/components/schemas/{model}"
_EXAMPLE = {"texts": ["The pump may fail in winter.", ["It", "holds", "."]]}
_PROBLEMS = {
    401: "The API key is missing or wrong",
    404: "No such model, or no such method or label of it",
    408: "The request took too long to arrive",
    413: "Larger than the limits in /v1/models",
    415: "Not sent as application/json",
    421: "Called by a name that is not the service's",
    422: "Not JSON, or not what is asked for here; `where` says what",
    429: "Too much is waiting; try again after Retry-After seconds",
    500: "The service failed",
    503: "The service is ending",
    504: "The answer took too long",
}
OPEN, LOCKED, LABELLING = (421,), (401, 421), tuple(_PROBLEMS)
"""Problems of routes without a key, of those with one, and of requests for labels."""


def problems(statuses: tuple[int, ...]) -> dict[int | str, dict[str, Any]]:
    """The answers of a route other than the one that was asked for."""
    content = {"application/json": {"schema": {"$ref": _NAMED.format(model="Error")}}}
    return {status: {"description": _PROBLEMS[status], "content": content} for status in statuses}


def body(limits: Limits) -> dict[str, Any]:
    """The body of a request for labels."""
    content = {"schema": label_request(limits).model_json_schema(), "example": _EXAMPLE}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def complete(document: dict[str, Any]) -> None:
    """Add to a description what belongs to no single route: the form of errors, and the key."""
    _, errors = models_json_schema([(Error, "serialization")], ref_template=_NAMED)
    document["components"]["schemas"] |= errors["$defs"]
    key = {"type": "http", "scheme": "bearer", "description": "Needed where the service has an API key"}
    document["components"]["securitySchemes"] = {"key": key}


def page(document: Mapping[str, Any]) -> str:
    """The description as a page that needs nothing from elsewhere."""
    about, schemas = document["info"], document["components"]["schemas"]
    parts = [f"<h1>{html.escape(about['title'])} service</h1><p>{_prose(about['description'])}</p>"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            heading = _prose(f"`{method.upper()} {path}`")
            parts.append(f"<h2>{heading}</h2><p>{_prose(operation['summary'])}</p>")
            if "requestBody" in operation:
                parts.append(_details("Request", operation["requestBody"]["content"]))
            parts += [
                _details(f"`{status}` {response['description']}", _resolved(response["content"], schemas))
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


def _resolved(content: Any, schemas: Mapping[str, Any]) -> Any:
    """A description with schemas in the place of their names, and without their titles."""
    if isinstance(content, list):
        return [_resolved(one, schemas) for one in content]
    if not isinstance(content, dict):
        return content
    if "$ref" in content:
        return _resolved(schemas[content["$ref"].rpartition("/")[2]], schemas)
    return {name: _resolved(one, schemas) for name, one in content.items() if name != "title"}


def _prose(text: str) -> str:
    """Text with `code` in it."""
    return re.sub("`(.+?)`", r"<code>\1</code>", html.escape(text))


def _details(summary: str, content: object) -> str:
    text = html.escape(json.dumps(content, indent=2, ensure_ascii=False))
    return f"<details><summary>{_prose(summary)}</summary><pre>{text}</pre></details>"
