"""All models of a service by name, and the watch over their folders."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from zerotag.errors import ZerotagError
from zerotag.labeller import load
from zerotag.serve.metrics import Metrics
from zerotag.serve.models import ServedModel
from zerotag.serve.settings import Settings

if TYPE_CHECKING:
    import torch

Fingerprint = tuple[tuple[str, int, int, int], ...]

logger = logging.getLogger("zerotag.serve")


class Shelf:
    """The models; the first is the default. A folder that is replaced by another model replaces the model."""

    def __init__(
        self,
        folders: Mapping[str, Path],
        settings: Settings,
        metrics: Metrics,
        *,
        device: str | torch.device | None = None,
    ) -> None:
        self.broken: set[str] = set()  # names whose folders changed into something that cannot be loaded
        self._folders = {name: folder.absolute() for name, folder in folders.items()}
        self._settings = settings
        self._metrics = metrics
        self._device = device
        self._seen = {name: fingerprint(folder) for name, folder in folders.items()}
        self._models = {name: self._load(name) for name in folders}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watch: asyncio.Task[None] | None = None

    @property
    def default(self) -> str:
        """The name of the model that answers when a request names none."""
        return next(iter(self._models))

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(self._models.values())

    def get(self, name: str) -> ServedModel | None:
        """The model of a name."""
        return self._models.get(name)

    def start(self) -> None:
        """Begin to work, and to look after the folders."""
        for model in self:
            model.start()
        self._watch = asyncio.get_running_loop().create_task(self._keep_watch())

    async def close(self) -> None:
        """Finish what was accepted, and end."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await asyncio.gather(*(model.close() for model in self), *self._tasks)

    def _load(self, name: str) -> ServedModel:
        return ServedModel(name, load(self._folders[name], device=self._device), self._settings, self._metrics)

    async def _keep_watch(self) -> None:
        before = dict(self._seen)
        while True:
            await asyncio.sleep(self._settings.watch_seconds)
            for name, folder in self._folders.items():
                now = await asyncio.to_thread(fingerprint, folder)
                if now != self._seen[name] and now == before[name]:  # it has changed, and stands still
                    self._seen[name] = now
                    await self._replace(name)
                before[name] = now

    async def _replace(self, name: str) -> None:
        try:
            new = await asyncio.to_thread(self._load, name)
        except Exception as error:  # whatever is wrong with the new one must not end the watch
            self.broken.add(name)
            self._metrics.reloaded(name, "failed")
            reason = error if isinstance(error, ZerotagError) else type(error).__name__
            logger.error("model %s changed and cannot be loaded; the earlier one goes on: %s", name, reason)
            return
        old, self._models[name] = self._models[name], new
        self.broken.discard(name)
        new.start()
        self._metrics.reloaded(name, "loaded")
        logger.info("model %s was replaced", name)
        closing = asyncio.get_running_loop().create_task(old.close())
        self._tasks.add(closing)
        closing.add_done_callback(self._tasks.discard)


def fingerprint(folder: Path) -> Fingerprint:
    """What tells a folder's files from those that were there before; empty if there is no folder."""
    try:
        files = [(file.name, file.stat()) for file in sorted(folder.iterdir())]
    except OSError:
        return ()
    return tuple((name, stat.st_mtime_ns, stat.st_size, stat.st_ino) for name, stat in files)
