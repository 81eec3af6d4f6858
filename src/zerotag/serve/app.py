"""The HTTP service: what can be asked for, and where."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

import zerotag
from zerotag.io.writers.jsonl import encode
from zerotag.serve import openapi, schemas
from zerotag.serve.assets import Assets, index
from zerotag.serve.labelling import Labelling
from zerotag.serve.labelstudio import add_ml_backend
from zerotag.serve.metrics import CONTENT_TYPE, Metrics
from zerotag.serve.middleware import ServiceMiddleware
from zerotag.serve.model_registry import ModelRegistry
from zerotag.serve.problems import HttpError
from zerotag.serve.requests import read_request
from zerotag.serve.settings import Settings
from zerotag.serve.workspace.routes import add_routes
from zerotag.serve.workspace.settings import WorkspaceSettings
from zerotag.serve.workspace.workspace import Workspace

if TYPE_CHECKING:
    import torch


def create_app(
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
    app = FastAPI(
        title="zerotag",
        version=zerotag.__version__,
        description=openapi.SERVICE,
        lifespan=_lifespan(registry, work),
        docs_url=None,  # it would fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.registry, app.state.settings = registry, settings
    app.add_middleware(ServiceMiddleware, settings=settings, metrics=metrics)
    _add_page(app)
    _add_probes(app, registry, metrics)
    labelling = Labelling(registry, settings)
    _add_api(app, registry, settings, labelling)
    add_ml_backend(app, settings, labelling)
    if work is not None:
        add_routes(app, work, registry, settings)
    openapi.complete(app.openapi())  # which is kept from now on
    return app


def _lifespan(
    registry: ModelRegistry, work: Workspace | None
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
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

    return lifespan


def _add_page(app: FastAPI) -> None:
    """The page with its files, the description of the service, and what is said of addresses that are not there."""

    @app.exception_handler(HTTPException)
    async def refuse(_: Request, error: HTTPException) -> Response:
        code = {404: "not_found", 405: "wrong_method"}.get(error.status_code, "refused")
        response = HttpError(error.status_code, code, f"{error.detail}; see /docs").response()
        response.headers.update(error.headers or {})
        return response

    app.get("/", include_in_schema=False)(index)
    app.mount("/assets", Assets())

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return HTMLResponse(openapi.page(app.openapi()))


def _add_probes(app: FastAPI, registry: ModelRegistry, metrics: Metrics) -> None:
    """What watches the service."""

    @app.get(
        "/healthz",
        summary="Whether the service runs",
        response_model=schemas.Health,
        responses=openapi.problems(openapi.OPEN),
    )
    async def healthz() -> Response:
        return JSONResponse({"status": "ok"})

    @app.get(
        "/readyz",
        summary="Whether the service takes requests",
        response_model=schemas.Readiness,
        responses=openapi.problems(openapi.OPEN),
    )
    async def readyz() -> Response:
        ready = not registry.problems()
        return JSONResponse(
            {"status": "ready" if ready else "not ready", "models": registry.status()}, 200 if ready else 503
        )

    @app.get(
        "/metrics",
        summary="Counters for Prometheus",
        response_class=PlainTextResponse,
        responses=openapi.problems(openapi.LOCKED),
        openapi_extra=openapi.KEY,
    )
    async def prometheus() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)


def _add_api(app: FastAPI, registry: ModelRegistry, settings: Settings, labelling: Labelling) -> None:
    """What other programs ask for."""

    @app.get(
        "/v1/models",
        summary="The models, and the largest request that is taken",
        response_model=schemas.Models,
        responses=openapi.problems(openapi.LOCKED),
        openapi_extra=openapi.KEY,
    )
    async def list_models() -> Response:
        described = [{**model.describe(), "default": model.name == registry.default} for model in registry]
        return JSONResponse({"models": described, "limits": asdict(settings.limits)})

    @app.post(
        "/v1/label",
        summary="Label the words of texts",
        response_model=schemas.Labelled,
        response_description="One record per text, in order",
        responses=openapi.problems(openapi.LABELLING),
        openapi_extra=openapi.body(settings.limits) | openapi.KEY,
    )
    async def label(request: Request) -> Response:
        asked = await read_request(request, settings, labelling.segmenter)
        model = labelling.model(asked.model)
        method, records = await labelling.answer(request, model, asked)
        head = encode({"model": model.name, "revision": model.revision, "method": method})
        return Response(f'{head[:-1]}, "results": [{", ".join(records)}]}}', media_type="application/json")
