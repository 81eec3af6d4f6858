"""Odd HTTP: every request is answered with JSON or hung up on, none with 500, and the service goes on as before."""

from __future__ import annotations

import json
import logging
import random
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from drills.drill import Attempt, Drill, Problem

if TYPE_CHECKING:
    from services import Service

_CASES = 5_000
_SECONDS = 60.0  # for an answer, on a machine that does other things too
_CHECK_EVERY = 25  # cases
_METHODS = ("GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "get", "BREW", "PRI", "", "X" * 3000)
_TARGETS = (
    *("/v1/label", "/v1/label", "/v1/label", "/v1/models", "/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"),
    *("/", "*", "http://127.0.0.1/v1/models", "//v1/models", "/v1/label?x=%00%ff", "/assets/../../etc/passwd"),
    *("/assets/%2e%2e/%2e%2e/etc/passwd", "/%", "/\x00", "/é", "/" + "a" * 20_000, "", "/v1/label#x"),
)
_BODIES: tuple[bytes, ...] = (
    *(
        b'{"texts": ["the pump may fail"]}',
        b'{"texts": [""]}',
        b'{"texts": []}',
        b'{"texts": "x"}',
        b"{}",
        b"[]",
        b"null",
    ),
    *(
        b"",
        b"{",
        b'{"texts": ["\\ud800"]}',
        b'{"texts": ["\\u0000"]}',
        b'{"texts": [1]}',
        b'{"texts": [NaN]}',
        b"\xff\xfe",
    ),
    *(b"[" * 5_000, b'{"texts": ' + b"[" * 900 + b"]" * 900 + b"}", b'{"texts": [' + b'"a",' * 2_000 + b'"a"]}'),
    *(
        b'{"texts": ["a"], "method": "lime"}',
        b'{"texts": ["a"], "method": "../x"}',
        b'{"texts": ["a"], "threshold": 80}',
    ),
    *(
        b'{"texts": ["a"], "threshold": NaN}',
        b'{"texts": ["a"], "model": "\\u0007"}',
        b'{"texts": ["' + b"a " * 30_000 + b'"]}',
    ),
    *(b'{"texts": ["' + b"a" * 5_000 + b'"]}', b'{"texts": ["a"], "threshold": 1e999}', b'{"a":' * 3_000, b"9" * 6_000),
    b'{"texts": ["a"], "texts": ["b"]}',
)
_HEADERS = (
    *("Host: 127.0.0.1", "Host: 127.0.0.1", "Host: evil.example", "Host:", "Host: 127.0.0.1:99999", "Host : 127.0.0.1"),
    *("Content-Type: application/json", "Content-Type: application/json", "Content-Type: text/plain", "Content-Type:"),
    *(
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: xchunked",
        "Expect: 100-continue",
    ),
    *("Content-Length: 5", "Content-Length: -1", "Content-Length: 99999999999999999999", "Content-Length: 1,1"),
    *("Connection: close", "Connection: upgrade", "Upgrade: websocket", "Upgrade: h2c", "Accept-Encoding: gzip;q=0"),
    *(
        "Authorization: Bearer \xff",
        "X-A: " + "b" * 100_000,
        "X-B: a\r\n b",
        "X-C: \x00",
        ": x",
        "\xff: x",
        "Range: bytes=9-",
    ),
)


def drills() -> list[Drill]:
    """The one of the whole service."""
    return [Drill("HTTP requests", _CASES, _prepared)]


@contextmanager
def _prepared(scratch: Path) -> Iterator[Attempt]:
    import tiny
    from services import Service
    from zerotag.serve.settings import Settings

    tiny.labeller().save_pretrained(scratch / "one")
    faults = _Faults()
    logging.getLogger().addHandler(faults)
    with Service({"one": scratch / "one"}, Settings(body_seconds=1.0, queue=10**6)) as service:
        expected = _useful(service)
        tried = 0

        def attempt(draw: random.Random) -> Iterator[Problem | None]:
            nonlocal tried
            request = odd_request(draw)
            problem = _problem(service, request) or faults.found(request)
            tried += 1
            if problem is None and tried % _CHECK_EVERY == 0 and _useful(service) != expected:
                problem = Problem("lost", f"{request[:200]!r}: the service answers otherwise than before")
            yield problem

        yield attempt
    logging.getLogger().removeHandler(faults)


def odd_request(draw: random.Random) -> bytes:
    """A request with something odd about it; every second one is read up to its body, for its head is sound."""
    return _with_odd_body(draw) if draw.random() < 0.5 else _with_odd_head(draw)


def _with_odd_body(draw: random.Random) -> bytes:
    """JSON of another kind or size than expected, or with a piece of it lost, doubled or overwritten."""
    body = draw.choice(_BODIES)
    if draw.random() < 0.5:
        start, end = sorted(draw.randrange(len(body) + 1) for _ in range(2))
        other = draw.choice((b"", body[start:end] * 2, draw.randbytes(4), b"null", b'"', b"\\u0000", b"1e400"))
        body = body[:start] + other + body[end:]
    head = (
        f"POST /v1/label HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    return head.encode() + b"\r\n\r\n" + body


def _with_odd_head(draw: random.Random) -> bytes:
    """Something odd in the first line, the headers or the body, or bytes that are no HTTP."""
    body = draw.choice(_BODIES)
    if draw.random() < 0.15:
        return draw.randbytes(draw.choice((0, 1, 20, 3_000)))
    method = "POST" if draw.random() < 0.6 else draw.choice(_METHODS)
    target = "/v1/label" if draw.random() < 0.6 else draw.choice(_TARGETS)
    version = draw.choice(("HTTP/1.1",) * 6 + ("HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "", "http/1.1"))
    headers = ["Host: 127.0.0.1"] if draw.random() < 0.8 else []
    if draw.random() < 0.7:
        headers += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    headers += draw.choices(_HEADERS, k=draw.choice((0, 0, 1, 1, 2, 5)))
    if draw.random() < 0.03:
        headers += ["X-Many: 1"] * 2_000
    if "Transfer-Encoding: chunked" in headers and draw.random() < 0.7:
        body = b"%x\r\n%b\r\n%b" % (
            len(body),
            body,
            draw.choice((b"0\r\n\r\n", b"", b"zz\r\n", b"ffffffffffffffff\r\n")),
        )
    end = draw.choice(("\r\n",) * 8 + ("\n", "\r"))
    head = end.join((f"{method} {target} {version}", *headers, "", "")).encode("latin-1", "replace")
    whole = head + body
    if draw.random() < 0.1:
        whole = whole[: draw.randrange(len(whole) + 1)]
    if draw.random() < 0.1:
        at = draw.randrange(len(whole) + 1)
        whole = whole[:at] + draw.randbytes(draw.choice((1, 5))) + whole[at:]
    return whole * draw.choice((1,) * 9 + (3,))  # one after the other on the same connection


def _problem(service: Service, request: bytes) -> Problem | None:
    name, started = f"{request[:200]!r}", time.monotonic()
    try:
        answer = _answer(service, request)
    except TimeoutError:
        return Problem("hang", f"{name}: neither an answer nor its end after {_SECONDS:g} s")
    except OSError:  # hung up on while it was still sending
        return None
    if time.monotonic() - started > _SECONDS:
        return Problem("hang", f"{name}: {time.monotonic() - started:.0f} s")
    head, _, body = answer.partition(b"\r\n\r\n")
    if not answer:
        return None
    status = head.split(b" ")[1] if head.startswith(b"HTTP/1.1 ") else b""
    if not status.isdigit() or status.startswith(b"5"):
        return Problem("crash", f"{name}: {answer[:200]!r}")
    if status.startswith(b"4") and body and not body.startswith(b"HTTP/1.1") and not _is_error(body):
        return Problem("crash", f"{name}: no error in JSON but {body[:200]!r}")
    return None


def _answer(service: Service, request: bytes) -> bytes:
    """What comes back until the service hangs up."""
    found = b""
    with socket.create_connection(("127.0.0.1", service.port), timeout=_SECONDS) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(1 << 16):
            found += piece
    return found


def _is_error(body: bytes) -> bool:
    try:
        found, _ = json.JSONDecoder().raw_decode(body.decode())  # other answers may follow
        return {"code", "message"} <= set(found["error"])
    except (ValueError, LookupError, TypeError):
        return False


def _useful(service: Service) -> object:
    """What honest clients get."""
    answer = service.label(["the pump may fail"])
    return service.get("/readyz").status, answer.status, answer.json.get("results")


class _Faults(logging.Handler):
    """Tracebacks in the log, and what a service calls a fault of its own."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what was logged."""
        self._messages.append(record.getMessage())

    def found(self, request: bytes) -> Problem | None:
        """What was logged since the last time."""
        messages, self._messages = self._messages, []
        return Problem("crash", f"{request[:200]!r}: logged {messages[0][:300]!r}") if messages else None
