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
from zerotag.serve import describe
from zerotag.serve.assets import asset
from zerotag.serve.guard import Guard
from zerotag.serve.lane import ClosedError, FullError, Job, Lane
from zerotag.serve.metrics import CONTENT_TYPE, Metrics
from zerotag.serve.models import ServedModel
from zerotag.serve.problems import HttpError
from zerotag.serve.requests import LabelRequest, read_request
from zerotag.serve.settings import Settings
from zerotag.serve.shelf import Shelf

if TYPE_CHECKING:
    import torch


def create_app(
    models: Mapping[str, Path], settings: Settings | None = None, *, device: str | torch.device | None = None
) -> FastAPI:
    """A service for model folders by name; the first is the default. Raises ZerotagError if one cannot be loaded."""
    settings = settings or Settings()
    metrics = Metrics()
    shelf = Shelf(models, settings, metrics, device=device)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        shelf.start()
        yield
        await shelf.close()

    app = FastAPI(
        title="zerotag",
        version=zerotag.__version__,
        description=describe.SERVICE,
        lifespan=lifespan,
        docs_url=None,  # it would fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(Guard, settings=settings, metrics=metrics)

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
        return HTMLResponse(describe.page(app.openapi()))

    @app.get("/healthz", **describe.HEALTH)
    async def healthz() -> Response:
        return JSONResponse({"status": "ok"})

    @app.get("/readyz", **describe.READY)
    async def readyz() -> Response:
        return JSONResponse(
            {
                "status": "ready",
                "models": {
                    model.name: "ready" if model.name not in shelf.broken else "ready; its new folder cannot be loaded"
                    for model in shelf
                },
            }
        )

    @app.get("/metrics", response_class=PlainTextResponse, **describe.METRICS)
    async def prometheus() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    @app.get("/v1/models", **describe.models(settings.limits))
    async def list_models() -> Response:
        described = [{**model.describe(), "default": model.name == shelf.default} for model in shelf]
        return JSONResponse({"models": described, "limits": asdict(settings.limits)})

    @app.post("/v1/label", **describe.label(settings.limits))
    async def label(request: Request) -> Response:
        asked = await read_request(request, settings)
        model = _model(shelf, asked)
        method = model.methods[0] if asked.method is None else asked.method
        lane = _lane(model, method, asked, settings)
        try:
            job = lane.submit(method, asked.sentences)
        except FullError as full:
            message = "too many requests are waiting; try again a little later"
            raise HttpError(429, "busy", message, retry_after=full.seconds) from None
        except ClosedError:
            raise HttpError(503, "ending", "the service is ending", retry_after=5) from None
        records = await _answer(request, lane, job, settings.answer_seconds)
        head = encode({"model": model.name, "revision": model.revision, "method": method})
        return Response(f'{head[:-1]}, "results": [{", ".join(records)}]}}', media_type="application/json")

    app.openapi()["components"] = describe.COMPONENTS  # it is kept from now on
    return app


def _model(shelf: Shelf, asked: LabelRequest) -> ServedModel:
    model = shelf.get(shelf.default if asked.model is None else asked.model)
    if model is None:
        names = ", ".join(model.name for model in shelf)
        raise HttpError(404, "unknown_model", f"there is no such model; there are: {names}", where="model")
    return model


def _lane(model: ServedModel, method: str, asked: LabelRequest, settings: Settings) -> Lane:
    try:
        lane = model.lane(method)
    except ZerotagError as error:
        raise HttpError(404, "unknown_method", str(error), where="method") from None
    if lane is model.native:
        return lane
    limits = settings.limits
    if len(asked.sentences) > limits.explained_texts:
        message = f"{method} takes at most {limits.explained_texts} texts in a request"
        raise HttpError(413, "too_large", message, where="texts")
    for number, sentence in enumerate(asked.sentences):
        if len(sentence.words) > limits.explained_words:
            message = f"{method} takes at most {limits.explained_words} words in a text"
            raise HttpError(413, "too_large", message, where=f"texts[{number}]")
    return lane


async def _answer(request: Request, lane: Lane, job: Job, seconds: float) -> list[str]:
    """The records of a job; given up when they take too long or the client has gone."""
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
        lane.withdraw(job)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
