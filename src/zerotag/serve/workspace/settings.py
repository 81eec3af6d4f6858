"""How much a workspace takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceSettings:
    """Where a workspace is, and its limits; whatever is beyond them is refused."""

    folder: Path

    encoder: str | None = None
    """What trainings start from; None: the packaged encoder."""

    upload_bytes: int = 100 * 10**6
    """Of a file."""

    upload_rows: int = 10**6
    """Of a file."""

    page_rows: int = 20_000
    """Rows of a file that the page gets to see at once."""

    parse_seconds: float = 300.0
    """For a file to be read."""

    parse_bytes: int = 4 * 2**30
    """Memory for reading a file, where the system can limit it."""

    disk_bytes: int = 10 * 10**9
    """Of uploads, trainings and models together."""

    models: int = 8
    """Of those trained here, as many as are kept in memory: the newest."""

    log_bytes: int = 10**6
    """Of a training's log that can be read on the page."""
