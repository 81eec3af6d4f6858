"""The HTTP service: what can be asked for, and where."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

import zerotag
from zerotag.errors import ZerotagError
from zerotag.io.writers.jsonl import encode
from zerotag.serve import openapi
from zerotag.serve.assets import asset
from zerotag.serve.batch_queue import BatchQueue, Job, QueueClosedError, QueueFullError
from zerotag.serve.labelstudio import add_ml_backend
from zerotag.serve.metrics import CONTENT_TYPE, Metrics
from zerotag.serve.middleware import ServiceMiddleware
from zerotag.serve.model_registry import ModelRegistry
from zerotag.serve.models import ServedModel, Task
from zerotag.serve.problems import HttpError
from zerotag.serve.requests import LabelRequest, read_request
from zerotag.serve.settings import Settings
from zerotag.serve.workspace.routes import add_routes
from zerotag.serve.workspace.settings import WorkspaceSettings
from zerotag.serve.workspace.workspace import Workspace
from zerotag.text.segmentation import Segmenter, split

if TYPE_CHECKING:
    import torch


def create_app(  # noqa: C901 (a function for each route)
    models: Mapping[str, Path],
    settings: Settings | None = None,
    *,
    device: str | torch.device | None = None,
    workspace: WorkspaceSettings | None = None,
) -> FastAPI:
    """A service for model folders by name; the first is the default. Raises ZerotagError if one cannot be loaded.

    With a workspace, models can be trained on the page.
    """
    settings = settings or Settings()
    metrics = Metrics()
    registry = ModelRegistry(models, settings, metrics, device=device)
    work = None if workspace is None else Workspace(workspace, registry.add)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        registry.start()
        if work is not None:
            for name, folder in work.models.items():
                if registry.get(name) is None:
                    await registry.add(name, folder)
            work.start()
        yield
        if work is not None:
            await work.close()
        await registry.close()

    app = FastAPI(
        title="zerotag",
        version=zerotag.__version__,
        description=openapi.SERVICE,
        lifespan=lifespan,
        docs_url=None,  # it would fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.registry, app.state.settings = registry, settings
    app.add_middleware(ServiceMiddleware, settings=settings, metrics=metrics)

    @app.exception_handler(HTTPException)
    async def refuse(_: Request, error: HTTPException) -> Response:
        code = {404: "not_found", 405: "wrong_method"}.get(error.status_code, "refused")
        response = HttpError(error.status_code, code, f"{error.detail}; see /docs").response()
        response.headers.update(error.headers or {})
        return response

    @app.get("/", include_in_schema=False)
    def page(request: Request) -> Response:
        return asset(request, "index.html")

    @app.get("/assets/{name}", include_in_schema=False)
    def page_file(request: Request, name: str) -> Response:
        return asset(request, name)

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return HTMLResponse(openapi.page(app.openapi()))

    @app.get("/healthz", **openapi.HEALTH)
    async def healthz() -> Response:
        return JSONResponse({"status": "ok"})

    @app.get("/readyz", **openapi.READY)
    async def readyz() -> Response:
        ready = not registry.problems()
        return JSONResponse(
            {"status": "ready" if ready else "not ready", "models": registry.status()}, 200 if ready else 503
        )

    @app.get("/metrics", response_class=PlainTextResponse, **openapi.METRICS)
    async def prometheus() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    @app.get("/v1/models", **openapi.models(settings.limits))
    async def list_models() -> Response:
        described = [{**model.describe(), "default": model.name == registry.default} for model in registry]
        return JSONResponse({"models": described, "limits": asdict(settings.limits)})

    @app.post("/v1/label", **openapi.label(settings.limits))
    async def label(request: Request) -> Response:
        asked = await read_request(request, settings, segmenter_of)
        model = _model(registry, asked)
        method, records = await answered(request, model, asked)
        head = encode({"model": model.name, "revision": model.revision, "method": method})
        return Response(f'{head[:-1]}, "results": [{", ".join(records)}]}}', media_type="application/json")

    async def answered(request: Request, model: ServedModel, asked: LabelRequest) -> tuple[str, list[str]]:
        method = model.methods[0] if asked.method is None else asked.method
        queue = _queue(model, method, asked, settings)
        try:
            job = queue.submit(_task(model, method, asked), asked.sentences)
            records = await _answer(request, queue, job, settings.request_seconds)
        except QueueFullError as full:
            message = "too many requests are waiting; try again a little later"
            raise HttpError(429, "busy", message, retry_after=full.seconds) from None
        except QueueClosedError:
            raise HttpError(503, "ending", "the service is ending", retry_after=5) from None
        return method, records

    def segmenter_of(name: str | None) -> Segmenter:
        chosen = registry.default if name is None else name
        model = None if chosen is None else registry.get(chosen)
        return split if model is None else model.labeller.segment

    add_ml_backend(app, registry, settings, answered)
    if work is not None:
        add_routes(app, work, registry, settings)
    app.openapi()["components"] = openapi.COMPONENTS  # it is kept from now on
    return app


def _model(registry: ModelRegistry, asked: LabelRequest) -> ServedModel:
    name = registry.default if asked.model is None else asked.model
    model = None if name is None else registry.get(name)
    if model is None:
        names = ", ".join(model.name for model in registry) or "none"
        raise HttpError(404, "unknown_model", f"there is no such model; there are: {names}", where="model")
    return model


def _task(model: ServedModel, method: str, asked: LabelRequest) -> Task:
    try:
        return model.task(method, asked.threshold)
    except ZerotagError as error:
        raise HttpError(404, "unknown_label", str(error), where="threshold") from None


def _queue(model: ServedModel, method: str, asked: LabelRequest, settings: Settings) -> BatchQueue:
    try:
        queue = model.queue_for(method)
    except ZerotagError as error:
        raise HttpError(404, "unknown_method", str(error), where="method") from None
    if queue is model.native:
        return queue
    limits = settings.limits
    if len(asked.sentences) > limits.explained_texts:
        message = f"{method} takes at most {limits.explained_texts} texts in a request"
        raise HttpError(413, "too_large", message, where="texts")
    for number, sentence in enumerate(asked.sentences):
        if len(sentence.words) > limits.explained_words:
            message = f"{method} takes at most {limits.explained_words} words in a text"
            raise HttpError(413, "too_large", message, where=f"texts[{number}]")
    return queue


async def _answer(request: Request, queue: BatchQueue, job: Job, seconds: float) -> list[str]:
    """The records of a job; its work is cancelled when it takes too long or the client has gone."""
    gone = asyncio.ensure_future(_disconnected(request))
    waited: set[asyncio.Future[Any]] = {job.answer, gone}
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if job.answer.done():
            return job.answer.result()
        if gone.done():
            raise ClientDisconnect
        raise HttpError(504, "too_slow", f"there was no answer within {seconds:g} seconds; send fewer or shorter texts")
    finally:
        gone.cancel()
        queue.withdraw(job)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
