"""The files of the page."""

from __future__ import annotations

import mimetypes
import os
from pathlib import Path

from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

PAGE = Path(__file__).parent / "page"
mimetypes.add_type("text/javascript", ".js")  # some systems have an older name


class Assets(StaticFiles):
    """Scripts and style sheets; browsers ask each time whether what they have is still the present one."""

    def __init__(self) -> None:
        super().__init__(directory=PAGE, packages=[("zerotag.render", "styles")])

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """A file, or nothing if the client has it already."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = "no-cache"
        return response


def index() -> FileResponse:
    """The page itself."""
    return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})
