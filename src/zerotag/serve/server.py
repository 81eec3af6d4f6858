"""The service on a socket: bound before anything is loaded, with time limits on clients, stopped in good order."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import socket
from typing import TYPE_CHECKING

from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from zerotag.errors import ZerotagError
from zerotag.serve.middleware import SECURITY_HEADERS
from zerotag.serve.problems import HttpError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from zerotag.serve.model_registry import ModelRegistry

HEAD_SECONDS = 10.0  # for the first line and the headers of a request, which uvicorn would wait for without end
_HEAD_BYTES = 2**14  # of them, which uvicorn would read without end
_HEADERS = 100
_TOO_LARGE = HttpError(431, "too_large", f"the request line and headers have more than {_HEAD_BYTES:,} bytes")
READING_SECONDS = 60.0  # for a client to take some of an answer that waits for it
_LAST_ANSWERS_SECONDS = 2


class StrictProtocol(HttpToolsProtocol):
    """Refuses request heads that are too large or ambiguous, and hangs up on clients that neither send nor read."""

    _deadline: asyncio.TimerHandle | None = None
    _reading_deadline: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Go on waiting, unless a request is being answered now."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
            return
        self._expect_head()
        if self.cycle is None or not self.cycle.more_body:  # otherwise this is the rest of a body that was refused
            self._head_bytes += len(data)
            if self._head_bytes > _HEAD_BYTES:
                self._refuse(_TOO_LARGE)

    def on_headers_complete(self) -> None:
        """Begin with a request, unless its head has to be refused."""
        refusal = self._refusal()
        if refusal is not None:
            self._refuse(refusal)
            raise ConnectionAbortedError  # the parser hands nothing on that follows
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Say that a request is not HTTP, or nothing if a refusal was already sent."""
        if not self.transport.is_closing():
            self._refuse(HttpError(400, "bad_request", msg))

    def _refusal(self) -> HttpError | None:
        """What is wrong with a request head: proxies and services must not read it in two ways."""
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > _HEAD_BYTES:
            return _TOO_LARGE
        if len(self.headers) > _HEADERS:
            return HttpError(431, "too_large", f"there are more than {_HEADERS} headers")
        if not self.url.startswith(b"/"):
            return HttpError(400, "bad_request", "the request target is not a path that starts with /")
        hosts = [value for name, value in self.headers if name == b"host"]
        if len(hosts) > 1 or (not hosts and self.parser.get_http_version() != "1.0"):
            return HttpError(400, "bad_request", "a request has one Host header")
        return None

    def _refuse(self, problem: HttpError) -> None:
        """Answer without the app, and hang up: where the next request starts cannot be known."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.close()  # an earlier request is under way, whose answer this must not be taken for
            return
        response = problem.response()
        headers = [*self.server_state.default_headers, *response.raw_headers, *SECURITY_HEADERS]
        head = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(STATUS_LINE[problem.status] + head + b"connection: close\r\n\r\n" + response.body)
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for the client to read: it has not taken what was sent so far."""
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        """Go on with the answer."""
        if self._reading_deadline is not None:
            self._reading_deadline.cancel()
            self._reading_deadline = None
        super().resume_writing()

    def _expect_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _expect_reading(self) -> None:
        left = self.transport.get_write_buffer_size()
        self._reading_deadline = self.loop.call_later(READING_SECONDS, self._check_reading, left)

    def _check_reading(self, left_before: int) -> None:
        if self.transport.get_write_buffer_size() < left_before:
            self._expect_reading()  # slow, but reading
        else:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        self._head_bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the address; port 0 is any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, OverflowError) as error:
        raise ZerotagError(f"{host!r} is no address of this machine ({error}); leave --host out for loopback") from None
    bound = socket.socket(family, kind, protocol)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        bound.listen(1024)  # a second service on the port must fail now, not after its models are loaded
    except OSError as error:
        bound.close()
        raise ZerotagError(f"cannot listen on {host} port {port}: {error.strerror}; choose another --port") from None
    return bound


def is_loopback(bound: socket.socket) -> bool:
    """Whether only this machine can reach the socket."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def address_of(bound: socket.socket) -> str:
    """The address as a browser takes it."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class BoundedServer(Server):
    """A server that ends in bounded time: what is not done by then is cancelled."""

    def __init__(self, config: Config, registry: ModelRegistry, shutdown_seconds: float) -> None:
        super().__init__(config)
        self._registry = registry
        self._shutdown_seconds = shutdown_seconds

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept nothing more, and end when accepted requests are answered, or cancelled as they took too long."""
        giving_up = asyncio.get_running_loop().call_later(self._shutdown_seconds, self._registry.abort)
        await super().shutdown(sockets)
        giving_up.cancel()


def make_server(app: FastAPI) -> BoundedServer:
    """The server for an app of `create_app`; `run(sockets=[...])` answers until it is told to stop by a signal."""
    shutdown_seconds = app.state.settings.shutdown_seconds
    config = Config(
        app,
        http=StrictProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        # After requests were given up, for clients to take their answers.
        timeout_graceful_shutdown=math.ceil(shutdown_seconds) + _LAST_ANSWERS_SECONDS,
    )
    return BoundedServer(config, app.state.registry, shutdown_seconds)
