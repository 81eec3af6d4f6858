"""What goes wrong with a request, as the client is told: a status and one JSON reason."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response


class HttpError(Exception):
    """An answer other than the one that was asked for."""

    def __init__(
        self, status: int, code: str, message: str, *, where: str | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.where = where
        self.retry_after = retry_after

    def response(self) -> Response:
        """The problem as an HTTP response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.where is not None:
            error["where"] = self.where
        headers = {}
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return Response(json.dumps({"error": error}), self.status, headers, "application/json")
