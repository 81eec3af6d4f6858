"""The service on a socket: bound before anything is loaded, with time limits on clients, stopped in good order."""

from __future__ import annotations

import asyncio
import ipaddress
import socket

from starlette.types import ASGIApp
from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from zerotag.errors import ZerotagError

_HEAD_SECONDS = 10.0  # for the first line and the headers of a request, which uvicorn would wait for without end
_GOODBYE_SECONDS = 90  # to finish what was accepted


class ImpatientProtocol(HttpToolsProtocol):
    """Hangs up on clients that keep a connection open without sending a whole request head."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Go on waiting, unless a request is being answered now."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._expect_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
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


def make_server(app: ASGIApp) -> Server:
    """The server for an app; `run(sockets=[...])` answers until it is told to stop by a signal."""
    config = Config(
        app,
        http=ImpatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GOODBYE_SECONDS,
    )
    return Server(config)
