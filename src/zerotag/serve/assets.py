"""The files of the page."""

from __future__ import annotations

import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from zerotag.serve.problems import HttpError

PAGE = Path(__file__).parent / "page"
_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
}


def asset(request: Request, name: str) -> Response:
    """A file of the page, or nothing if the client has it already."""
    # Looked up among what is there rather than opened by name: no name can lead elsewhere.
    found = {file.name: file for file in PAGE.iterdir() if file.suffix in _TYPES and file.is_file()}
    if name not in found:
        raise HttpError(404, "not_found", "there is no such file")
    content = found[name].read_bytes()
    headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"', "Cache-Control": "no-cache"}
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_TYPES[found[name].suffix])
