"""A hub of models on this machine: as much of its HTTP as `huggingface_hub` needs to push a folder and fetch it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """Models by name, each a table of files."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.models: dict[str, dict[str, bytes]] = {}
        self.private: set[str] = set()
        self.tokens: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def hub() -> Iterator[Hub]:
    """A hub that answers while this lasts."""
    server = Hub()
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (its name there)
        pass

    def do_POST(self) -> None:
        self.server.tokens.add(self.headers["Authorization"])
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        match self.path.strip("/").split("/"):
            case ["api", "repos", "create"]:
                self._create(json.loads(body))
            case ["api", "validate-yaml"]:
                self._answer({"errors": [], "warnings": []})
            case ["api", "models", _, _, "preupload", _]:
                files = [one["path"] for one in json.loads(body)["files"]]
                self._answer(
                    {"files": [{"path": path, "uploadMode": "regular", "shouldIgnore": False} for path in files]}
                )
            case ["api", "models", user, name, "commit", _]:
                self._commit(f"{user}/{name}", [json.loads(line) for line in body.splitlines()])
            case _:
                self.send_error(404)

    def do_GET(self) -> None:
        match self.path.partition("?")[0].strip("/").split("/"):
            case ["api", "models", user, name, "revision", _]:
                self._describe(f"{user}/{name}")
            case ["api", "models", user, name, "tree", *_]:
                self._tree(f"{user}/{name}")
            case [user, name, "resolve", _, *path]:
                self._file(f"{user}/{name}", "/".join(path))
            case _:
                self.send_error(404)

    do_HEAD = do_GET  # noqa: N815

    def _create(self, wanted: dict[str, Any]) -> None:
        name = f"{wanted['organization']}/{wanted['name']}"
        self.server.models.setdefault(name, {})
        if "private" in (wanted.get("visibility"), "private" if wanted.get("private") else ""):
            self.server.private.add(name)
        self._answer({"url": f"{self.server.url}/{name}", "name": name, "id": name})

    def _commit(self, name: str, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line["key"] == "file":
                value = line["value"]
                assert value["encoding"] == "base64"
                self.server.models[name][value["path"]] = base64.b64decode(value["content"])
        address = f"{self.server.url}/{name}/commit/{COMMIT}"
        self._answer({"success": True, "commitOid": COMMIT, "commitUrl": address, "hookOutput": ""})

    def _describe(self, name: str) -> None:
        if name not in self.server.models:
            self._not_there()
            return
        files = [{"rfilename": path} for path in self.server.models[name]]
        self._answer({"id": name, "modelId": name, "sha": COMMIT, "siblings": files, "private": False, "tags": []})

    def _tree(self, name: str) -> None:
        files = self.server.models[name].items()
        self._answer(
            [{"type": "file", "path": path, "size": len(content), "oid": _oid(content)} for path, content in files]
        )

    def _file(self, name: str, path: str) -> None:
        content = self.server.models.get(name, {}).get(path)
        if content is None:
            self._not_there()
            return
        self.send_response(200)
        self.send_header("ETag", f'"{_oid(content)}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self._end(content)

    def _not_there(self) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", "RepoNotFound")
        self._end(b"")

    def _answer(self, document: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self._end(json.dumps(document).encode())

    def _end(self, content: bytes) -> None:
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _oid(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()
