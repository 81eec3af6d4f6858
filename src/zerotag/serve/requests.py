"""Requests, read within limits of size and time and checked before anything is done about them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request

from zerotag.serve.problems import HttpError
from zerotag.serve.schemas import TAGS, label_request
from zerotag.serve.settings import Limits, Settings
from zerotag.text.segmentation import Segmenter, as_sentence
from zerotag.types import Sentence

SegmenterOf = Callable[[str | None], Segmenter]
"""What splits texts for a model, which may be unknown, or for the default one (None)."""

_PARSED_AT_ONCE = 2**14  # bytes; more would hold up everybody else, and is parsed in a thread
_OBJECT = TypeAdapter(dict[str, Any])


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
    body = await _json_body(request, settings)
    try:
        return _OBJECT.validate_json(body)
    except ValidationError as error:
        raise _refusal(error) from None


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
    try:
        asked: Any = label_request(limits).model_validate_json(body)
    except ValidationError as error:
        raise _refusal(error) from None
    sentences = sentences_of(asked.texts, limits, segmenter_of(asked.model))
    return LabelRequest(sentences, asked.model, asked.method, asked.threshold)


def _refusal(error: ValidationError) -> HttpError:
    """The first problem with a request, in the words of its schema."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    kind, message = first["type"], first["msg"]
    place = [part for part in first["loc"] if part not in TAGS]
    where = f"{place[0]}{''.join(f'[{part!r:.42}]' for part in place[1:])}"[:80] if place else None
    if kind == "json_invalid":
        return HttpError(422, "not_json", message)
    if kind in ("too_long", "string_too_long"):
        return HttpError(413, "too_large", message, where=where)
    return HttpError(422, "invalid", message, where=where)


def sentences_of(
    texts: Sequence[str | list[str]], limits: Limits, segment: Segmenter, name: str = "texts"
) -> list[Sentence]:
    """The sentences of a list of texts, within limits; the field they were sent in has a name."""
    _within(len(texts), limits.texts, f"the request has {{:,}} {name}", name)
    return [_sentence(text, f"{name}[{number}]", limits, segment) for number, text in enumerate(texts)]


def _sentence(text: str | list[str], where: str, limits: Limits, segment: Segmenter) -> Sentence:
    characters = len(text) if isinstance(text, str) else sum(map(len, text)) + max(0, len(text) - 1)
    _within(characters, limits.characters, "a text has {:,} characters", where)
    sentence = as_sentence(text, segment)
    longest = max(map(len, sentence.words), default=0)
    _within(len(sentence.words), limits.words, "a text has {:,} words", where)
    _within(longest, limits.word_characters, "a word has {:,} characters", where)
    return sentence


def _within(found: int, limit: int, what: str, where: str) -> None:
    if found > limit:
        raise HttpError(413, "too_large", f"{what.format(found)}; at most {limit:,}", where=where)
