"""Middleware around every request: host and key, security headers, metrics, and errors that say no more than needed."""

from __future__ import annotations

import base64
import hmac
import logging
import time
import traceback
from collections.abc import MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zerotag.serve.metrics import Metrics
from zerotag.serve.problems import HttpError
from zerotag.serve.settings import Settings

SECURITY_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_GONE = 499  # the client has; only the metrics see it
OPEN_PATHS = ("/", "/healthz", "/readyz", "/docs", "/openapi.json")

logger = logging.getLogger("zerotag.serve")


class ServiceMiddleware:
    """Checks host and key, adds security headers, counts, and turns errors into answers."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 0
        method: str = scope["method"]
        if method == "HEAD":  # it is GET but for the body, which the server leaves out
            scope = {**scope, "method": "GET"}

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *SECURITY_HEADERS]
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, receive, send_with_headers)
        except HttpError as problem:
            self._metrics.rejected(problem.code)
            await problem.response()(scope, receive, send_with_headers)
        except ClientDisconnect:
            status = _GONE
        except Exception as error:
            logger.error("%s %s failed: %s", method, _route(scope), _place(error))
            if not status:
                failure = HttpError(500, "failed", "something went wrong here; it is in the log of the service")
                await failure.response()(scope, receive, send_with_headers)
        finally:
            self._metrics.answered(_route(scope), method, status, time.perf_counter() - start)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        names = self._settings.host_names
        if names is not None and _host(headers) not in names:
            raise HttpError(421, "wrong_host", f"this service is reached as {' or '.join(sorted(names))} only")
        key = self._settings.api_key
        if key is None or scope["path"] in OPEN_PATHS or scope["path"].startswith("/assets/"):
            return
        if not hmac.compare_digest(_given_key(headers), key.encode()):
            raise HttpError(401, "no_key", "send the API key of this service as Authorization: Bearer KEY")


def _given_key(headers: MutableMapping[bytes, bytes]) -> bytes:
    """The key that a client sent, as a bearer token or, as Label Studio sends it, as the password of any user."""
    scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer":
        return given
    if scheme.lower() == b"basic":
        with suppress(ValueError):
            return base64.b64decode(given, validate=True).partition(b":")[2]
    return b""


def _host(headers: MutableMapping[bytes, bytes]) -> str:
    """The host that the client thinks it talks to, without the port."""
    host = headers.get(b"host", b"").decode("latin-1").lower()
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _route(scope: Scope) -> str:
    """The route as it was declared: paths that clients make up must not become names of metrics."""
    route: Any = scope.get("route")
    return getattr(route, "path", "other")


def _place(error: Exception) -> str:
    """The kind of an error and where it arose; not its message, which might hold the text of a request."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return " ".join([type(error).__name__, "in", *(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)])
