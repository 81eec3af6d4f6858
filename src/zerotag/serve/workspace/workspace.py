"""A workspace as the service sees it: a folder with its records, files, jobs and models."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from zerotag.io.files import delete_folder, make_folders, whole_file
from zerotag.serve.problems import HttpError
from zerotag.serve.workspace.jobs import JobRunner
from zerotag.serve.workspace.settings import WorkspaceSettings
from zerotag.serve.workspace.store import RUNNING, Job, Store
from zerotag.serve.workspace.tables import ROWS
from zerotag.serve.workspace.uploads import Uploads
from zerotag.serve.workspace.worker import DATA

CORRECTIONS, TEXTS = "corrections.jsonl", "texts.jsonl"


class Workspace:
    """One folder, held by one service."""

    def __init__(self, settings: WorkspaceSettings, add_model: Callable[[str, Path], Awaitable[None]]) -> None:
        self.settings = settings
        self.token = secrets.token_urlsafe(24)  # only pages of this service can read it, so only they can change things
        self.store = Store(settings.folder)
        self._add_model = add_model
        for name in ("uploads", "jobs", "models", "corrections"):
            make_folders(settings.folder / name)
        self.uploads = Uploads(self.store, settings.folder / "uploads", settings)
        self.jobs = JobRunner(self.store, settings.folder / "jobs", self._done)

    @property
    def models(self) -> dict[str, Path]:
        """The models that were trained here, of which the newest are served."""
        folders = [
            folder for folder in (self.settings.folder / "models").iterdir() if (folder / "config.json").exists()
        ]
        newest = sorted(folders, key=lambda folder: -folder.stat().st_mtime)
        return {folder.name: folder for folder in newest[: self.settings.models]}

    def start(self) -> None:
        """Begin to work."""
        self.jobs.start()

    async def close(self) -> None:
        """Interrupt work, and let go of the folder."""
        await self.jobs.close()
        self.store.close()

    async def train(self, upload: str, choice: dict[str, Any], name: str) -> str:
        """Put a training into the queue; gives its id."""
        summary = self.store.upload(upload)
        found = await self.uploads.check(upload, choice)
        if found["problem"]:
            raise HttpError(422, "invalid", found["problem"])
        job = secrets.token_hex(8)
        make_folders(self.jobs.folder(job))
        rows = self.uploads.folder(upload) / ROWS
        await asyncio.to_thread(shutil.copyfile, rows, self.jobs.folder(job) / DATA)  # the upload may be deleted
        settings = {**choice, "out": str(self.settings.folder / "models" / name), "upload": upload, "found": found}
        self.jobs.add(
            job, "train", name, {**settings, "encoder": self.settings.encoder, "file": (summary or {}).get("name")}
        )
        return job

    async def improve(self, model: str, folder: Path, name: str, texts: Sequence[Any]) -> str:
        """Put a job into the queue that tunes a model by its corrections, and shows the effect on texts."""
        corrections = self.corrections_file(model)
        if not corrections.exists() or not corrections.stat().st_size:
            raise HttpError(422, "invalid", "nothing was corrected yet")
        job = secrets.token_hex(8)
        place = self.jobs.folder(job)
        make_folders(place)
        await asyncio.to_thread(shutil.copyfile, corrections, place / CORRECTIONS)
        with whole_file(place / TEXTS) as file:
            file.writelines(json.dumps(text, ensure_ascii=False) + "\n" for text in texts)
        out = self.settings.folder / "models" / name
        settings = {"model": str(folder), "out": str(out), "corrections": CORRECTIONS, "texts": TEXTS}
        self.jobs.add(job, "improve", name, {**settings, "of": model})
        return job

    def delete_job(self, job: Job) -> None:
        """Forget a job that has ended, and its files."""
        if job.state == RUNNING:
            raise HttpError(409, "running", "it is under way; cancel it first")
        self.store.delete_job(job.id)
        shutil.rmtree(self.jobs.folder(job.id), ignore_errors=True)

    def delete_model(self, name: str) -> None:
        """Delete a model that was trained here."""
        if name not in self.models:
            raise HttpError(404, "not_found", "there is no such model in the workspace", where="name")
        delete_folder(self.models[name])

    def correct(self, model: str, sentence: str, record: dict[str, Any] | None) -> None:
        """Remember a correction, also in the file that the command line reads."""
        self.store.correct(model, sentence, record)
        with whole_file(self.corrections_file(model)) as file:
            for one in self.store.corrections(model).values():
                file.write(json.dumps(one["example"], ensure_ascii=False) + "\n")

    def corrections_file(self, model: str) -> Path:
        """Where the corrections of a model's sentences are, as `zerotag evaluate` and `zerotag train` read them."""
        return self.settings.folder / "corrections" / f"{model}.jsonl"

    async def _done(self, job: Job) -> None:
        if (folder := Path(job.settings["out"])).exists():  # corrections need not have made a better model
            await self._add_model(job.name, folder)
