"""A real service on a free port, in a thread of this process, and bare HTTP to talk to it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from types import TracebackType
from typing import Any

from zerotag.serve.app import create_app
from zerotag.serve.server import address_of, listen, make_server
from zerotag.serve.settings import Settings
from zerotag.serve.workspace.settings import WorkspaceSettings

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Reply:
    status: int
    headers: HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Of the error it reports."""
        return str(self.json["error"]["code"])


class Service:
    """A context in which some model folders are served."""

    def __init__(
        self,
        models: Mapping[str, Path],
        settings: Settings | None = None,
        *,
        workspace: WorkspaceSettings | None = None,
    ) -> None:
        self._socket = listen("127.0.0.1", 0)
        self.url = address_of(self._socket)
        self.port: int = self._socket.getsockname()[1]
        self.server = make_server(create_app(models, settings, workspace=workspace))
        self._thread = threading.Thread(target=self.server.run, args=([self._socket],))

    def __enter__(self) -> Service:
        self._thread.start()
        until(lambda: self.server.started)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive()

    def ask(
        self, method: str, path: str, body: bytes | str | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """One request on a connection of its own."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body.encode() if isinstance(body, str) else body, dict(headers or {}))
            response = connection.getresponse()
            return Reply(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        return self.ask("GET", path, headers=headers)

    def label(self, texts: object, **more: object) -> Reply:
        return self.ask("POST", "/v1/label", json.dumps({"texts": texts, **more}), JSON)

    def metric(self, line_start: str) -> float:
        """The value of the one counter whose line starts so."""
        (line,) = [line for line in self.get("/metrics").body.decode().splitlines() if line.startswith(line_start)]
        return float(line.rpartition(" ")[2])

    def connect(self) -> socket.socket:
        """A bare connection, for clients that misbehave."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)


def until(condition: Any, seconds: float = 30) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)
