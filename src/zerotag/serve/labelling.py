"""From a request for labels to its records: the model, the method and its queue, and a limit of time."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import ClientDisconnect, Request

from zerotag.errors import ZerotagError
from zerotag.serve.batch_queue import BatchQueue, Job, QueueClosedError, QueueFullError
from zerotag.serve.model_registry import ModelRegistry
from zerotag.serve.models import ServedModel
from zerotag.serve.problems import HttpError
from zerotag.serve.requests import LabelRequest
from zerotag.serve.settings import Settings
from zerotag.text.segmentation import Segmenter, split


class Labelling:
    """Labels the sentences of requests by the models of a registry."""

    def __init__(self, registry: ModelRegistry, settings: Settings) -> None:
        self._registry = registry
        self._settings = settings

    def model(self, name: str | None = None) -> ServedModel:
        """The model of a name, or the default one."""
        found = self._find(name)
        if found is None:
            names = ", ".join(model.name for model in self._registry) or "none"
            raise HttpError(404, "unknown_model", f"there is no such model; there are: {names}", where="model")
        return found

    def segmenter(self, name: str | None) -> Segmenter:
        """What splits texts for a model; any will do for one that is not there."""
        found = self._find(name)
        return split if found is None else found.labeller.segment

    async def answer(self, request: Request, model: ServedModel, asked: LabelRequest) -> tuple[str, list[str]]:
        """The method, and a record of JSON lines for each sentence."""
        method = model.methods[0] if asked.method is None else asked.method
        queue = self._queue(model, method, asked)
        try:
            task = model.task(method, asked.threshold)
        except ZerotagError as error:
            raise HttpError(404, "unknown_label", str(error), where="threshold") from None
        try:
            job = queue.submit(task, asked.sentences)
            return method, await self._records(request, queue, job)
        except QueueFullError as full:
            message = "too many requests are waiting; try again a little later"
            raise HttpError(429, "busy", message, retry_after=full.seconds) from None
        except QueueClosedError:
            raise HttpError(503, "ending", "the service is ending", retry_after=5) from None

    def _find(self, name: str | None) -> ServedModel | None:
        name = self._registry.default if name is None else name
        return None if name is None else self._registry.get(name)

    def _queue(self, model: ServedModel, method: str, asked: LabelRequest) -> BatchQueue:
        try:
            queue = model.queue_for(method)
        except ZerotagError as error:
            raise HttpError(404, "unknown_method", str(error), where="method") from None
        if queue is model.native:
            return queue
        limits = self._settings.limits
        if len(asked.sentences) > limits.explained_texts:
            message = f"{method} takes at most {limits.explained_texts} texts in a request"
            raise HttpError(413, "too_large", message, where="texts")
        for number, sentence in enumerate(asked.sentences):
            if len(sentence.words) > limits.explained_words:
                message = f"{method} takes at most {limits.explained_words} words in a text"
                raise HttpError(413, "too_large", message, where=f"texts[{number}]")
        return queue

    async def _records(self, request: Request, queue: BatchQueue, job: Job) -> list[str]:
        """The records of a job; its work is cancelled when it takes too long or the client has gone."""
        seconds = self._settings.request_seconds
        gone = asyncio.ensure_future(_disconnected(request))
        waited: set[asyncio.Future[Any]] = {job.answer, gone}
        try:
            await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if job.answer.done():
                return job.answer.result()
            if gone.done():
                raise ClientDisconnect
            message = f"there was no answer within {seconds:g} seconds; send fewer or shorter texts"
            raise HttpError(504, "too_slow", message)
        finally:
            gone.cancel()
            queue.withdraw(job)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
