"""A client of `zerotag serve`: the labeller of another machine as if it were here, without torch."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from httpx2 import URL, InvalidURL, Response, TimeoutException, TransportError
from httpx2 import Client as HttpClient

from zerotag.errors import ZerotagError
from zerotag.types import Labelled, Span, Word

_PASSING = (429, 503)  # what may be gone a little later
_FIRST_WAIT = 0.1  # seconds, doubled each time
_LONGEST_WAIT = 30.0
_ENVELOPE = 1024  # bytes of a request around its texts


class Client:
    """Labels texts by a service. Safe to share between threads: every call has its own connection."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        api_key: str | None = None,
        timeout: float = 90.0,
        retries: int = 8,
    ) -> None:
        """`timeout` is in seconds and for each request; `retries` are for a service that is busy or away."""
        self._url = _address(url)
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout = timeout
        self._retries = retries
        self._labels: dict[tuple[str, str], tuple[str, ...]] = {}  # by name and revision of a model

    def models(self) -> list[dict[str, Any]]:
        """What the service says of its models, as they are now."""
        return list(self._fetch_offer()["models"])

    def label(
        self,
        texts: Iterable[str | Sequence[str]],
        *,
        model: str | None = None,
        method: str | None = None,
        threshold: float | Mapping[str, float] | None = None,
    ) -> list[Labelled]:
        """Label texts; each is a string or a list of words that are already split.

        `threshold` is the score from which words have the label, or one for each label by name; by default the model's.
        """
        if isinstance(texts, str):
            raise TypeError("label() takes a list of texts; for a single one write label([text])[0]")
        options = {"model": model, "method": method, "threshold": threshold}
        chosen = {name: value for name, value in options.items() if value is not None}
        results: list[Labelled] = []
        with self._connect() as connection:
            for chunk in self._chunks(texts, explained=method not in (None, "native")):
                body = f'{json.dumps(chosen)[:-1]}{", " if chosen else ""}"texts": [{", ".join(chunk)}]}}'
                answer = self._ask(connection, "POST", "/v1/label", body, first_text=len(results))
                label_names = self._labels_of(answer)
                results += [labelled_of(record, label_names) for record in answer["results"]]
        return results

    @cached_property
    def _offer(self) -> dict[str, Any]:
        return self._fetch_offer()

    def _fetch_offer(self) -> dict[str, Any]:
        with self._connect() as connection:
            offer = self._ask(connection, "GET", "/v1/models")
        self._labels |= {(one["name"], one["revision"]): tuple(one["labels"]) for one in offer["models"]}
        return offer

    def _labels_of(self, answer: Mapping[str, Any]) -> tuple[str, ...]:
        """The labels of the model that answered, which may have replaced another since the service was asked."""
        model = (answer["model"], answer["revision"])
        if model not in self._labels:
            self._fetch_offer()
        if model not in self._labels:
            raise ZerotagError(f"{self._url} has replaced the model {answer['model']!r} meanwhile; try again")
        return self._labels[model]

    def _chunks(self, texts: Iterable[str | Sequence[str]], *, explained: bool) -> Iterator[list[str]]:
        """Texts as JSON, as many at a time as the service takes."""
        limits = self._offer["limits"]
        most_texts = limits["explained_texts" if explained else "texts"]
        chunk: list[str] = []
        size = _ENVELOPE
        for text in texts:
            encoded = json.dumps(text if isinstance(text, str) else list(text))
            if chunk and (len(chunk) == most_texts or size + len(encoded) + 2 > limits["body_bytes"]):
                yield chunk
                chunk, size = [], _ENVELOPE
            chunk.append(encoded)
            size += len(encoded) + 2
        if chunk:
            yield chunk

    def _connect(self) -> HttpClient:
        headers = {**self._headers, "Content-Type": "application/json"}
        return HttpClient(base_url=self._url, headers=headers, timeout=self._timeout, trust_env=False)

    def _ask(
        self, connection: HttpClient, method: str, path: str, body: str | None = None, *, first_text: int = 0
    ) -> dict[str, Any]:
        """The service's answer, after as many attempts as it takes."""
        for attempt in range(self._retries + 1):
            asked = 0
            try:
                response = connection.request(method, path, content=body)
            except TimeoutException:
                raise ZerotagError(f"{self._url} did not answer within {self._timeout:g} seconds") from None
            except TransportError as error:
                complaint = f"{self._url} cannot be reached ({error})"
            else:
                if response.status_code == 200:
                    return self._document(response)
                complaint = self._complaint(response, first_text)
                if response.status_code not in _PASSING:
                    raise ZerotagError(complaint)
                retry_after = response.headers.get("Retry-After", "")
                asked = int(retry_after) if retry_after.isdecimal() else 0  # it may be a date
            if attempt < self._retries:
                time.sleep(_wait(attempt, asked))
        raise ZerotagError(complaint)

    def _document(self, response: Response) -> dict[str, Any]:
        try:
            document: dict[str, Any] = response.json()
        except ValueError:
            raise ZerotagError(f"{self._url} does not answer as a zerotag service does") from None
        return document

    def _complaint(self, response: Response, first_text: int) -> str:
        """What the service complained of, with texts counted as the caller counts them."""
        try:
            error = response.json()["error"]
            message, where = str(error["message"]), str(error.get("where", ""))
        except (ValueError, TypeError, KeyError):
            return f"{self._url} answered with {response.status_code} {response.reason_phrase}"
        counted = re.sub(r"^texts\[(\d+)\]", lambda match: f"texts[{int(match[1]) + first_text}]", where)
        return f"{counted}: {message}" if counted else message


def _address(url: str) -> str:
    """The address of a service, without a slash at its end."""
    try:
        parts = URL(url)
        if parts.scheme in ("http", "https") and parts.host and (parts.port is None or 0 < parts.port < 1 << 16):
            return url.rstrip("/")
    except InvalidURL:
        pass
    raise ZerotagError(f"{url[:80]!r} is not the address of a service, as in http://127.0.0.1:8000")


def _wait(attempt: int, asked: int) -> float:
    """Seconds before the next attempt: at least what the service asked for, and never all clients at once."""
    backoff: float = min(_LONGEST_WAIT, _FIRST_WAIT * 2**attempt)
    return min(_LONGEST_WAIT, asked) + backoff * random.uniform(0.5, 1)


def labelled_of(record: Mapping[str, Any], label_names: Sequence[str]) -> Labelled:
    """A record of the service as what the library itself gives."""
    return Labelled(
        text=record["text"],
        scores=_scores(record, label_names),
        labels=_labels(record),
        words=tuple(
            Word(word["text"], word["start"], word["end"], _scores(word, label_names), _labels(word))
            for word in record["words"]
        ),
        spans=tuple(Span(**span) for span in record["spans"]),
    )


def _scores(scored: Mapping[str, Any], label_names: Sequence[str]) -> dict[str, float]:
    return dict(scored["scores"]) if "scores" in scored else {label_names[0]: scored["score"]}


def _labels(scored: Mapping[str, Any]) -> tuple[str, ...]:
    if "labels" in scored:
        return tuple(scored["labels"])
    return () if scored["label"] is None else (scored["label"],)
