"""Jobs of a workspace, one at a time, each in a process of its own; what was under way goes on after a restart."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from zerotag.io.files import make_folders, whole_file
from zerotag.serve.workspace.store import CANCELLED, DONE, FAILED, QUEUED, RUNNING, Job, Store
from zerotag.serve.workspace.worker import JOB, LOG

_LONGEST_LINE = 2**20  # bytes of what a worker says
_KILL_SECONDS = 15.0

logger = logging.getLogger("zerotag.serve")


class JobRunner:
    """Works off the queue; `on_done` is told of each job that went well."""

    def __init__(self, store: Store, folder: Path, on_done: Callable[[Job], Awaitable[None]]) -> None:
        self._store = store
        self._folder = folder
        self._on_done = on_done
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._process: Process | None = None
        self._running: str | None = None
        self._cancelled: set[str] = set()

    def folder(self, job: str) -> Path:
        """Where a job keeps its files."""
        return self._folder / job

    def start(self) -> None:
        """Begin with what waits, and with what was under way when the service last ended."""
        self._store.requeue()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Interrupt what is under way: it goes on after a restart."""
        if self._task is None:
            return
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    def add(self, job: str, kind: str, name: str, settings: dict[str, Any]) -> None:
        """Put a job at the end of the queue; its folder may have files for it already."""
        make_folders(self.folder(job))
        with whole_file(self.folder(job) / JOB) as file:
            json.dump({"kind": kind, **settings}, file)
        self._store.add_job(job, kind, name, settings)
        self._wake.set()

    async def cancel(self, job: Job) -> None:
        """End a job for good."""
        if job.state == QUEUED:
            self._store.end(job.id, CANCELLED)
        elif job.state == RUNNING and self._running == job.id:
            self._cancelled.add(job.id)
            if self._process is not None:
                await _end(self._process)

    def log(self, job: str, most: int) -> str:
        """The end of a job's log."""
        try:
            with (self.folder(job) / LOG).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - most))
                return file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    async def _run(self) -> None:
        while True:
            job = self._store.next_job()
            if job is None:
                self._wake.clear()
                await self._wake.wait()
                continue
            self._store.start(job.id)
            self._running = job.id
            try:
                await self._work(job)
            finally:
                self._running = None
                self._cancelled.discard(job.id)

    async def _work(self, job: Job) -> None:
        folder = self.folder(job.id)
        with (folder / LOG).open("ab") as log:
            self._process = process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "zerotag.serve.workspace.worker", str(folder)),
                stdin=PIPE,
                stdout=PIPE,
                stderr=log,
                limit=_LONGEST_LINE,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        try:
            said = await self._listen(job, process)
            status = await process.wait()
        finally:  # the service ends: so does the job, until the next start
            if process.returncode is None:
                await asyncio.shield(_end(process))
            self._process = None
        if job.id in self._cancelled:
            self._store.end(job.id, CANCELLED)
            shutil.rmtree(folder, ignore_errors=True)
        elif status == 0 and "result" in said:
            await self._on_done(job)  # first: who sees that it is done wants to see its model
            self._store.end(job.id, DONE, result=said["result"])
        else:
            self._store.end(job.id, FAILED, message=said.get("failed") or _failure(status))
            logger.error("job %s (%s) failed; its log is %s", job.name, job.kind, folder / LOG)

    async def _listen(self, job: Job, process: Process) -> dict[str, Any]:
        """Note progress until the worker says no more; gives the last thing it said."""
        assert process.stdout is not None
        said: dict[str, Any] = {}
        async for line in process.stdout:
            with suppress(ValueError):
                said = json.loads(line)
                if "progress" in said:
                    self._store.progress(job.id, said["progress"])
        return said


def _failure(status: int) -> str:
    if status == -9:
        return "it was killed; most likely there was too little memory. Train on less, or on another machine."
    return f"it ended unexpectedly (status {status}); its log says more"


async def _end(process: Process) -> None:
    """Ask a process to end, and see to it."""
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _KILL_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
