"""Requests, read within limits of size and time and checked before anything is done about them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from starlette.requests import Request

from zerotag.decisions import check_threshold
from zerotag.errors import ZerotagError
from zerotag.serve.problems import HttpError
from zerotag.serve.settings import Limits, Settings
from zerotag.text.segmentation import Segmenter, as_sentence
from zerotag.types import Sentence

SegmenterOf = Callable[[str | None], Segmenter]
"""What splits texts for a model, which may be unknown, or for the default one (None)."""

_FIELDS = ("texts", "model", "method", "threshold")
_PARSED_AT_ONCE = 2**14  # bytes; more would hold up everybody else, and is parsed in a thread


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """What a client wants to have labelled, and by what."""

    sentences: list[Sentence]
    model: str | None
    method: str | None
    threshold: float | dict[str, float] | None = None
    """The score from which words have the label, or one by label; by default the model's own."""


async def read_request(request: Request, settings: Settings, segmenter_of: SegmenterOf) -> LabelRequest:
    """The request of a client, or the problem with it."""
    body = await _json_body(request, settings)
    if len(body) <= _PARSED_AT_ONCE:
        return parse(body, settings.limits, segmenter_of)
    return await asyncio.to_thread(parse, body, settings.limits, segmenter_of)


async def read_json(request: Request, settings: Settings) -> dict[str, Any]:
    """The JSON object of a request, or the problem with it."""
    document = _json(await _json_body(request, settings))
    if not isinstance(document, dict):
        _wrong("the request is not a JSON object")
    return document


async def _json_body(request: Request, settings: Settings) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # which also keeps out the forms of other people's web pages
        raise HttpError(415, "not_json", "send the request as JSON, with Content-Type: application/json")
    try:
        async with asyncio.timeout(settings.body_seconds):
            return await _read_body(request, settings.limits.body_bytes)
    except TimeoutError:
        message = f"the request did not arrive within {settings.body_seconds:g} seconds"
        raise HttpError(408, "too_slow", message) from None


async def _read_body(request: Request, limit: int) -> bytes:
    announced = request.headers.get("content-length", "")
    body = bytearray()
    if not (announced.isascii() and announced.isdigit() and int(announced) > limit):
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                break
        else:
            return bytes(body)
    raise HttpError(413, "too_large", f"the request has more than {limit:,} bytes")


def parse(body: bytes, limits: Limits, segmenter_of: SegmenterOf) -> LabelRequest:
    """The request in a body."""
    document = _json(body)
    if not isinstance(document, dict):
        _wrong("the request is not a JSON object, as in " + '{"texts": ["It may rain."]}')
    for name in document:
        if name not in _FIELDS:
            _wrong(f"unknown field {name[:40]!r}; there are: {', '.join(_FIELDS)}")
    if "texts" not in document:
        _wrong("the request has no texts", "texts")
    model, method = _name(document, "model"), _name(document, "method")
    sentences = sentences_of(document["texts"], limits, segmenter_of(model))
    return LabelRequest(sentences, model, method, _threshold(document))


def sentences_of(texts: Any, limits: Limits, segment: Segmenter, name: str = "texts") -> list[Sentence]:
    """The sentences of a list of texts, within limits; the field they were sent in has a name."""
    if not isinstance(texts, list):
        _wrong(f"{name} is not a list", name)
    if len(texts) > limits.texts:
        raise HttpError(
            413, "too_large", f"the request has {len(texts):,} {name}; at most {limits.texts:,}", where=name
        )
    return [_sentence(text, f"{name}[{number}]", limits, segment) for number, text in enumerate(texts)]


def _json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        _wrong(f"the request is not UTF-8 (byte {error.start + 1})", code="not_json")
    except json.JSONDecodeError as error:
        _wrong(f"the request is not JSON: {error.msg} (line {error.lineno}, column {error.colno})", code="not_json")
    except RecursionError:
        _wrong("the request is nested too deeply", code="not_json")
    except ValueError as error:  # NaN, and numbers of thousands of digits
        _wrong(f"the request is not JSON: {str(error).partition(':')[0]}", code="not_json")


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _name(document: dict[str, Any], field: str) -> str | None:
    if field not in document:
        return None
    name = document[field]
    if not isinstance(name, str):
        _wrong(f"{field} is not a string", field)
    return name


def _threshold(document: dict[str, Any]) -> float | dict[str, float] | None:
    if "threshold" not in document:
        return None
    given: Any = document["threshold"]
    by_label: dict[str | None, Any] = given if isinstance(given, dict) else {None: given}
    for name, value in by_label.items():
        try:
            check_threshold(value)
        except ZerotagError as error:
            _wrong(str(error), "threshold" if name is None else f"threshold[{name[:40]!r}]")
    chosen: float | dict[str, float] = given
    return chosen


def _sentence(text: Any, where: str, limits: Limits, segment: Segmenter) -> Sentence:
    if isinstance(text, list):
        for number, word in enumerate(text):
            if not isinstance(word, str):
                _wrong("a word is not a string", f"{where}[{number}]")
        characters = sum(map(len, text)) + max(0, len(text) - 1)
    elif isinstance(text, str):
        characters = len(text)
    else:
        _wrong("a text is neither a string nor a list of words", where)
    _within(characters, limits.characters, "characters", where)
    sentence = as_sentence(text, segment)
    _within(len(sentence.words), limits.words, "words", where)
    _within(max(map(len, sentence.words), default=0), limits.word_characters, "characters in a word", where)
    return sentence


def _within(found: int, limit: int, what: str, where: str) -> None:
    if found > limit:
        raise HttpError(413, "too_large", f"a text has {found:,} {what}; at most {limit:,}", where=where)


def _wrong(message: str, where: str | None = None, *, code: str = "invalid") -> NoReturn:
    raise HttpError(422, code, message, where=where) from None
