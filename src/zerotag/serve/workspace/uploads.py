"""Files that people give to a workspace: received with a limit, read in a process of their own."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from zerotag.io.files import make_folders
from zerotag.serve.problems import HttpError
from zerotag.serve.workspace.processes import receive, run_module
from zerotag.serve.workspace.settings import WorkspaceSettings
from zerotag.serve.workspace.store import Store
from zerotag.serve.workspace.tables import ROWS, SUMMARY, rows_of

_KINDS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx", ".xls", ".ods")
_UNSAFE = re.compile(r"[^\w. ()-]")
_LONGEST_NAME = 100


class Uploads:
    """The files of a workspace."""

    def __init__(self, store: Store, folder: Path, settings: WorkspaceSettings) -> None:
        self._store = store
        self._folder = folder
        self._settings = settings
        self._reading = asyncio.Semaphore(1)  # one at a time: each may take much memory

    def folder(self, upload: str) -> Path:
        """Where the rows of a file are; raises HttpError if there is no such file."""
        if self._store.upload(upload) is None:
            raise HttpError(404, "not_found", "there is no such upload; it was deleted", where="upload")
        return self._folder / upload

    async def add(self, name: str, body: AsyncIterator[bytes]) -> dict[str, Any]:
        """Receive a file and read it; gives what the page needs to know of it."""
        name = _UNSAFE.sub("_", Path(name).name)[-_LONGEST_NAME:] or "upload"
        if not name.lower().endswith(_KINDS):
            raise HttpError(422, "invalid", f"a table is one of {', '.join(_KINDS)}", where="name")
        self._check_room()
        upload = secrets.token_hex(8)
        folder = self._folder / upload
        make_folders(folder)
        try:
            await receive(folder / name, body, self._settings.upload_bytes)
            async with self._reading:
                await self._read(folder / name, folder)
            summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
            self._store.add_upload(upload, summary)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        (folder / name).unlink()  # its rows are kept, with all columns
        return {"id": upload, **summary}

    def rows(self, upload: str, start: int, count: int) -> list[str]:
        """Some of the rows of a file, as JSON."""
        return rows_of(self.folder(upload), start, min(count, self._settings.page_rows))

    def delete(self, upload: str) -> None:
        """Delete a file; models that were trained on it stay."""
        folder = self.folder(upload)
        self._store.delete_upload(upload)
        shutil.rmtree(folder, ignore_errors=True)

    async def check(self, upload: str, choice: dict[str, Any]) -> dict[str, Any]:
        """What a training on some columns would learn from."""
        rows = self.folder(upload) / ROWS
        said = await run_module("training_data", [rows], json.dumps(choice), self._settings.parse_seconds)
        return json.loads(said)  # type: ignore[no-any-return]

    async def export(self, name: str, upload: str | None, given: dict[str, Any], body: AsyncIterator[bytes]) -> bytes:
        """What the page shows as a file; `given` says of which format, the body has the records."""
        self._check_room()
        with TemporaryDirectory(dir=self._folder, prefix="export-") as scratch:
            folder = Path(scratch)
            rows = folder / ROWS if upload is None else self.folder(upload) / ROWS
            await receive(folder / "records.jsonl", body, self._settings.upload_bytes)
            files = [folder / "records.jsonl", rows, folder / name]
            async with self._reading:
                await run_module("exporting", files, json.dumps(given), self._settings.parse_seconds)
            return await asyncio.to_thread(files[-1].read_bytes)

    async def _read(self, file: Path, folder: Path) -> None:
        limits = {"bytes": self._settings.parse_bytes, "rows": self._settings.upload_rows}
        await run_module("tables", [file, folder], json.dumps(limits), self._settings.parse_seconds)

    def _check_room(self) -> None:
        used = sum(file.stat().st_size for file in self._folder.parent.rglob("*") if file.is_file())
        if used > self._settings.disk_bytes:
            most = self._settings.disk_bytes / 10**9
            raise HttpError(
                507, "full", f"the workspace holds more than {most:g} GB; delete models or files you no longer need"
            )
