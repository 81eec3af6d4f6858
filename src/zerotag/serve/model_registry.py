"""All models of a service by name, and the watch over their folders."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from zerotag.errors import ZerotagError
from zerotag.labeller import load
from zerotag.serve.daemon_threads import DaemonExecutor
from zerotag.serve.metrics import Metrics
from zerotag.serve.models import ServedModel
from zerotag.serve.settings import Settings

if TYPE_CHECKING:
    import torch

A = TypeVar("A")
T = TypeVar("T")
Fingerprint = tuple[tuple[str, int, int, int], ...]

CANNOT_BE_LOADED = "its new folder cannot be loaded"
_CLOSE_SECONDS = 3.0  # for cancelled work to end

logger = logging.getLogger("zerotag.serve")


class _HangsError(Exception):
    """Reading a folder did not end in time."""


class ModelRegistry:
    """The models; the first is the default. A folder that is replaced by another model replaces the model."""

    def __init__(
        self,
        folders: Mapping[str, Path],
        settings: Settings,
        metrics: Metrics,
        *,
        device: str | torch.device | None = None,
    ) -> None:
        self._folders = {name: folder.absolute() for name, folder in folders.items()}
        self._settings = settings
        self._metrics = metrics
        self._device = device
        self._seen = {name: fingerprint(folder) for name, folder in folders.items()}
        self._models = {name: self._load(name) for name in folders}
        self._broken: set[str] = set()  # names whose folders changed into something that cannot be loaded
        self._hanging: dict[str, str] = {}  # what did not end in time, listing or loading, by name
        self._closing: dict[ServedModel, asyncio.Task[None]] = {}  # models that were replaced
        self._watches: dict[str, asyncio.Task[None]] = {}

    @property
    def default(self) -> str | None:
        """The name of the model that answers when a request names none, if there is one."""
        return next(iter(self._models), None)

    @property
    def is_idle(self) -> bool:
        """Whether no thread works for any model."""
        return all(queue.is_idle for model in (*self, *self._closing) for queue in model.queues)

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(self._models.values())

    def get(self, name: str) -> ServedModel | None:
        """The model of a name."""
        return self._models.get(name)

    async def add(self, name: str, folder: Path) -> None:
        """Serve one more model; if its folder cannot be loaded, that is logged."""
        self._folders[name] = folder.absolute()
        self._seen[name] = fingerprint(folder)
        try:
            model = await self._in_time(name, "loading", self._load, name)
        except Exception as error:  # a model that was just trained must not end the service
            logger.error("model %s cannot be loaded: %s", name, _reason(error))
            return
        self._models[name] = model
        model.start()
        self._watches[name] = asyncio.get_running_loop().create_task(self._watch(name))
        logger.info("model %s was added", name)

    async def remove(self, name: str) -> None:
        """Serve a model no longer, once it has answered what it was asked."""
        if name in self._watches:
            self._watches.pop(name).cancel()
        model = self._models.pop(name, None)
        if model is not None:
            await model.close()

    def folder(self, name: str) -> Path:
        """Where a model is on the disk."""
        return self._folders[name]

    def problems(self) -> dict[str, str]:
        """What keeps models, by name, from being ready."""
        found = {}
        for model in self:
            stuck = [queue.name for queue in model.queues if self._is_stuck(queue.seconds_past_cancellation)]
            if stuck:
                found[model.name] = f"the queue {' and '.join(stuck)} is stuck"
            elif model.name in self._hanging:
                doing, seconds = self._hanging[model.name], self._settings.reload_seconds
                found[model.name] = f"{doing} its folder did not end within {seconds:g} seconds"
        return found

    def status(self) -> dict[str, str]:
        """Of each model by name: whether it is ready, and what is the matter with it."""
        problems = self.problems()
        status = {model.name: "ready" for model in self}
        status |= dict.fromkeys(self._broken, f"ready; {CANNOT_BE_LOADED}")
        return status | {name: f"not ready: {problem}" for name, problem in problems.items()}

    def start(self) -> None:
        """Begin to work, and to watch the folders."""
        for model in self:
            model.start()
        loop = asyncio.get_running_loop()
        # One watch for each: a folder that hangs must not keep the others from being reloaded.
        self._watches = {name: loop.create_task(self._watch(name)) for name in self._folders}

    def abort(self) -> None:
        """Cancel all work that is not done, answer its requests with an error, and log how many that were."""
        unfinished = {queue.name: queue.abort() for model in (*self, *self._closing) for queue in model.queues}
        if any(unfinished.values()):
            counts = ", ".join(f"{count} in {name}" for name, count in unfinished.items() if count)
            seconds = self._settings.shutdown_seconds
            logger.error("gave up requests that were not done %g s after the signal to end: %s", seconds, counts)

    async def close(self) -> None:
        """Finish what was accepted, and end; work that was cancelled and does not end is left behind."""
        for watch in self._watches.values():
            watch.cancel()
        await asyncio.gather(*self._watches.values(), return_exceptions=True)
        closing = asyncio.gather(*(model.close() for model in self), *self._closing.values())
        try:
            await asyncio.wait_for(closing, _CLOSE_SECONDS)
        except TimeoutError:
            busy = [queue.name for model in (*self, *self._closing) for queue in model.queues if not queue.is_idle]
            logger.error("the service ends although work in %s does not", ", ".join(busy))

    def _is_stuck(self, seconds_past_cancellation: float) -> bool:
        return seconds_past_cancellation > self._settings.stuck_seconds

    def _load(self, name: str) -> ServedModel:
        return ServedModel(name, load(self._folders[name], device=self._device), self._settings, self._metrics)

    async def _watch(self, name: str) -> None:
        before = self._seen[name]
        while True:
            await asyncio.sleep(self._settings.watch_seconds)
            with suppress(_HangsError):
                now = await self._in_time(name, "listing", fingerprint, self._folders[name])
                if self._hanging.get(name) == "listing":
                    del self._hanging[name]
                if now != self._seen[name] and now == before:  # it has changed, and stands still
                    self._seen[name] = now
                    await self._replace(name)
                before = now

    async def _replace(self, name: str) -> None:
        try:
            new = await self._in_time(name, "loading", self._load, name)
        except _HangsError:
            raise
        except Exception as error:  # whatever is wrong with the new one must not end the watch
            self._broken.add(name)
            self._hanging.pop(name, None)
            self._metrics.reloaded(name, "failed")
            logger.error("model %s changed and cannot be loaded; the earlier one goes on: %s", name, _reason(error))
            return
        old, self._models[name] = self._models[name], new
        self._broken.discard(name)
        self._hanging.pop(name, None)
        new.start()
        self._metrics.reloaded(name, "loaded")
        logger.info("model %s was replaced", name)
        self._closing[old] = asyncio.get_running_loop().create_task(old.close())
        self._closing[old].add_done_callback(lambda _: self._closing.pop(old))

    async def _in_time(self, name: str, doing: str, read: Callable[[A], T], argument: A) -> T:
        """What reading a model's folder gives; if it hangs, that is noted and its thread left behind."""
        thread = DaemonExecutor(1, f"{name}-{doing}")
        reading = asyncio.wrap_future(thread.submit(read, argument))
        thread.shutdown()
        seconds = self._settings.reload_seconds
        await asyncio.wait([reading], timeout=seconds)
        if reading.done():
            return reading.result()
        reading.cancel()
        self._hanging[name] = doing
        self._metrics.reloaded(name, "failed")
        logger.error("model %s: %s its folder did not end within %g s; the earlier one goes on", name, doing, seconds)
        raise _HangsError


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ZerotagError) else type(error).__name__


def fingerprint(folder: Path) -> Fingerprint:
    """What tells a folder's files from those that were there before; empty if there is no folder."""
    try:
        files = [(file.name, file.stat()) for file in sorted(folder.iterdir())]
    except OSError:
        return ()
    return tuple((name, stat.st_mtime_ns, stat.st_size, stat.st_ino) for name, stat in files)
