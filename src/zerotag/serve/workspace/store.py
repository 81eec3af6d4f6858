"""The records of a workspace in SQLite: one process holds it, one thread at a time writes."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io.files import explained, make_folders
from zerotag.io.locks import only_us

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
_SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE uploads (id TEXT PRIMARY KEY, created REAL NOT NULL, summary TEXT NOT NULL);
CREATE TABLE jobs (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL, created REAL NOT NULL,
  started REAL, ended REAL, settings TEXT NOT NULL, progress TEXT, result TEXT, message TEXT
);
CREATE TABLE corrections (
  model TEXT NOT NULL, sentence TEXT NOT NULL, record TEXT NOT NULL, changed REAL NOT NULL,
  PRIMARY KEY (model, sentence)
);
"""


@dataclass(frozen=True, slots=True)
class Job:
    """Work that takes long, as it stands."""

    id: str
    kind: str
    name: str
    state: str
    created: float
    started: float | None
    ended: float | None
    settings: dict[str, Any]
    progress: dict[str, Any] | None
    result: dict[str, Any] | None
    message: str | None


class Store:
    """Uploads, jobs and corrections; whatever a method has changed is on the disk when it returns."""

    def __init__(self, folder: Path) -> None:
        with ExitStack() as opening, explained(folder):
            make_folders(folder)
            opening.enter_context(only_us(folder / "workspace"))
            self._database = sqlite3.connect(folder / "workspace.sqlite", check_same_thread=False, isolation_level=None)
            opening.callback(self._database.close)
            try:
                self._prepare(folder)
            except sqlite3.DatabaseError as error:
                raise ZerotagError(f"{folder}: its workspace.sqlite cannot be used ({error}); move it away") from None
            self._closing = opening.pop_all()
        self._lock = Lock()

    def _prepare(self, folder: Path) -> None:
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version == 0:
            self._database.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;")
        elif version != _SCHEMA_VERSION:
            raise ZerotagError(f"{folder}: a workspace of another version of zerotag; choose another --workspace")

    def close(self) -> None:
        """Let go of the workspace."""
        self._closing.close()

    def add_upload(self, upload: str, summary: dict[str, Any]) -> None:
        """Remember a file that was read."""
        self._run("INSERT INTO uploads VALUES (?, ?, ?)", upload, time.time(), json.dumps(summary))

    def upload(self, upload: str) -> dict[str, Any] | None:
        """What is known of a file."""
        for (summary,) in self._run("SELECT summary FROM uploads WHERE id = ?", upload):
            return json.loads(summary)  # type: ignore[no-any-return]
        return None

    def uploads(self) -> list[dict[str, Any]]:
        """All files, the newest first."""
        rows = self._run("SELECT id, created, summary FROM uploads ORDER BY created DESC")
        return [{"id": upload, "created": created, **json.loads(summary)} for upload, created, summary in rows]

    def delete_upload(self, upload: str) -> None:
        """Forget a file."""
        self._run("DELETE FROM uploads WHERE id = ?", upload)

    def add_job(self, job: str, kind: str, name: str, settings: dict[str, Any]) -> None:
        """Put work at the end of the queue."""
        self._run(
            "INSERT INTO jobs (id, kind, name, state, created, settings) VALUES (?, ?, ?, ?, ?, ?)",
            *(job, kind, name, QUEUED, time.time(), json.dumps(settings)),
        )

    def job(self, job: str) -> Job | None:
        """Work by its id."""
        return next(self._jobs("WHERE id = ?", job), None)

    def jobs(self) -> list[Job]:
        """All work, the newest first."""
        return list(self._jobs("ORDER BY created DESC"))

    def next_job(self) -> Job | None:
        """The work that has waited longest."""
        return next(self._jobs("WHERE state = ? ORDER BY created LIMIT 1", QUEUED), None)

    def requeue(self) -> None:
        """Have work that was under way when a service ended go on."""
        self._run("UPDATE jobs SET state = ? WHERE state = ?", QUEUED, RUNNING)

    def start(self, job: str) -> None:
        """Note that work has begun."""
        now = time.time()
        self._run("UPDATE jobs SET state = ?, started = coalesce(started, ?) WHERE id = ?", RUNNING, now, job)

    def progress(self, job: str, progress: dict[str, Any]) -> None:
        """Note how far work has come."""
        self._run("UPDATE jobs SET progress = ? WHERE id = ?", json.dumps(progress), job)

    def end(self, job: str, state: str, *, message: str | None = None, result: dict[str, Any] | None = None) -> None:
        """Note how work has ended."""
        given = None if result is None else json.dumps(result)
        self._run(
            "UPDATE jobs SET state = ?, ended = ?, message = ?, result = ? WHERE id = ?",
            *(state, time.time(), message, given, job),
        )

    def delete_job(self, job: str) -> None:
        """Forget work that has ended."""
        self._run("DELETE FROM jobs WHERE id = ?", job)

    def correct(self, model: str, sentence: str, record: dict[str, Any] | None) -> None:
        """Remember what a person says of a sentence, or forget it."""
        if record is None:
            self._run("DELETE FROM corrections WHERE model = ? AND sentence = ?", model, sentence)
        else:
            given = (model, sentence, json.dumps(record), time.time())
            self._run("INSERT OR REPLACE INTO corrections VALUES (?, ?, ?, ?)", *given)

    def corrections(self, model: str) -> dict[str, dict[str, Any]]:
        """What people say of sentences, by sentence, in the order of their last change."""
        rows = self._run("SELECT sentence, record FROM corrections WHERE model = ? ORDER BY changed", model)
        return {sentence: json.loads(record) for sentence, record in rows}

    def _jobs(self, rest: str, *values: Any) -> Iterator[Job]:
        names = "id, kind, name, state, created, started, ended, settings, progress, result, message"
        for *plain, settings, progress, result, message in self._run(f"SELECT {names} FROM jobs {rest}", *values):
            parsed = [None if text is None else json.loads(text) for text in (settings, progress, result)]
            yield Job(*[*plain, *parsed, message])

    def _run(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        with self._lock, _explained():
            return self._database.execute(statement, values).fetchall()


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise ZerotagError(f"the workspace cannot be read or written: {error}") from None
