"""What the page asks of a workspace. Other programs have the command line and the library for that."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from zerotag.active.suggest import suggest as suggestions
from zerotag.serve.model_registry import ModelRegistry
from zerotag.serve.problems import HttpError
from zerotag.serve.requests import read_json
from zerotag.serve.settings import Settings
from zerotag.serve.workspace.exporting import MEDIA_TYPES
from zerotag.serve.workspace.store import Job
from zerotag.serve.workspace.workspace import Workspace

_AT = "/v1/workspace"
_NAME = re.compile(r"[\w.-]{1,60}")
_UPLOAD_SECONDS = 600.0
_DEMO = "hedging.train.jsonl"
_MOST_ROWS = 10**6
_TOKEN = "x-zerotag-token"
_POOL = 2_000  # texts to choose from
_SUGGESTIONS = 200


Route = Callable[[str, str], Callable[[Any], Any]]
"""Decorates what answers a method at a path."""


def add_routes(app: FastAPI, workspace: Workspace, registry: ModelRegistry, settings: Settings) -> None:
    """Let the page use a workspace."""

    def route(method: str, path: str) -> Callable[[Any], Any]:
        return app.api_route(f"{_AT}{path}", methods=[method], include_in_schema=False)

    _add_uploads(route, workspace, registry, settings)
    _add_jobs(route, workspace, registry, settings)
    _add_models(route, workspace, registry, settings)


def _add_uploads(route: Route, workspace: Workspace, registry: ModelRegistry, settings: Settings) -> None:
    """Files, and what is written of them."""

    @route("GET", "")
    async def overview() -> Response:
        limits = {name: value for name, value in asdict(workspace.settings).items() if name != "folder"}
        return JSONResponse(
            {
                "token": workspace.token,
                "folder": str(workspace.settings.folder),
                "limits": limits,
                "uploads": [_short(upload) for upload in workspace.store.uploads()],
                "models": list(workspace.models),
            }
        )

    @route("POST", "/uploads")
    async def upload(request: Request, name: str = "") -> Response:
        _guard(request, workspace)
        async with asyncio.timeout(_UPLOAD_SECONDS):
            return JSONResponse(await workspace.uploads.add(name, request.stream()), 201)

    @route("POST", "/demo")
    async def demo(request: Request) -> Response:
        _guard(request, workspace)

        async def content() -> Any:
            yield files("zerotag.demo").joinpath(_DEMO).read_bytes()

        return JSONResponse(await workspace.uploads.add(_DEMO, content()), 201)

    @route("GET", "/uploads/{upload}")
    async def one_upload(upload: str) -> Response:
        workspace.uploads.folder(upload)
        return JSONResponse({"id": upload, **(workspace.store.upload(upload) or {})})

    @route("GET", "/uploads/{upload}/rows")
    async def rows(upload: str, start: int = 0, count: int = _MOST_ROWS) -> Response:
        found = await asyncio.to_thread(workspace.uploads.rows, upload, max(0, start), max(0, count))
        return Response(f'{{"rows": [{", ".join(found)}]}}', media_type="application/json")

    @route("POST", "/export")
    async def export(request: Request, given: str, upload: str | None = None) -> Response:
        _guard(request, workspace)
        described = _export(given, registry)
        name = f"zerotag.{described['format']}"
        content = await workspace.uploads.export(name, upload, described, request.stream())
        return Response(content, media_type=MEDIA_TYPES[described["format"]])

    @route("DELETE", "/uploads/{upload}")
    async def delete_upload(request: Request, upload: str) -> Response:
        _guard(request, workspace)
        workspace.uploads.delete(upload)
        return Response(status_code=204)

    @route("POST", "/uploads/{upload}/check")
    async def check(request: Request, upload: str) -> Response:
        _guard(request, workspace)
        choice = await read_json(request, settings)
        return JSONResponse(await workspace.uploads.check(upload, choice))


def _add_jobs(route: Route, workspace: Workspace, registry: ModelRegistry, settings: Settings) -> None:
    """Trainings and improvements, and what goes before them."""

    @route("GET", "/jobs")
    async def jobs() -> Response:
        return JSONResponse({"jobs": [_shown(job) for job in workspace.store.jobs()]})

    @route("POST", "/jobs")
    async def train(request: Request) -> Response:
        _guard(request, workspace)
        given = await read_json(request, settings)
        name = _free_name(given.get("name"), workspace, registry)
        choice = {field: given.get(field) for field in ("text", "labels", "negative")}
        job = await workspace.train(str(given.get("upload")), choice, name)
        return JSONResponse({"id": job}, 201)

    @route("POST", "/improve")
    async def improve(request: Request) -> Response:
        _guard(request, workspace)
        given = await read_json(request, settings)
        model, texts = _known(str(given.get("model")), registry), given.get("texts")
        if not isinstance(texts, list):
            raise HttpError(422, "invalid", "texts is a list", where="texts")
        name = _free_name(given.get("name"), workspace, registry)
        return JSONResponse({"id": await workspace.improve(model, registry.folder(model), name, texts)}, 201)

    @route("POST", "/suggest")
    async def suggest(request: Request) -> Response:
        _guard(request, workspace)
        given = await read_json(request, settings)
        model, texts = registry.get(_known(str(given.get("model")), registry)), given.get("texts")
        if not isinstance(texts, list) or not texts or model is None:
            raise HttpError(422, "invalid", "texts is a list that is not empty", where="texts")
        found = await asyncio.to_thread(suggestions, model.labeller, texts[:_POOL], n=_SUGGESTIONS)
        return JSONResponse({"numbers": [one.number for one in found], "reasons": [one.reason for one in found]})

    @route("POST", "/jobs/{job}/cancel")
    async def cancel(request: Request, job: str) -> Response:
        _guard(request, workspace)
        await workspace.jobs.cancel(_job(workspace, job))
        return Response(status_code=204)

    @route("DELETE", "/jobs/{job}")
    async def delete_job(request: Request, job: str) -> Response:
        _guard(request, workspace)
        workspace.delete_job(_job(workspace, job))
        return Response(status_code=204)

    @route("GET", "/jobs/{job}/log")
    async def log(job: str) -> Response:
        return PlainTextResponse(workspace.jobs.log(_job(workspace, job).id, workspace.settings.log_bytes))


def _add_models(route: Route, workspace: Workspace, registry: ModelRegistry, settings: Settings) -> None:
    """Trained models, and the corrections of what they said."""

    @route("DELETE", "/models/{name}")
    async def delete_model(request: Request, name: str) -> Response:
        _guard(request, workspace)
        workspace.delete_model(name)
        await registry.remove(name)
        return Response(status_code=204)

    @route("GET", "/corrections/{model}")
    async def corrections(model: str) -> Response:
        return JSONResponse({"corrections": workspace.store.corrections(_known(model, registry))})

    @route("PUT", "/corrections/{model}")
    async def correct(request: Request, model: str) -> Response:
        _guard(request, workspace)
        given = await read_json(request, settings)
        sentence, record = given.get("sentence"), given.get("record")
        if not isinstance(sentence, str) or not (record is None or _is_record(record)):
            raise HttpError(422, "invalid", "a correction is {sentence, record: {marks, example} or null}")
        await asyncio.to_thread(workspace.correct, _known(model, registry), sentence, record)
        return Response(status_code=204)

    @route("GET", "/corrections/{model}/file")
    async def corrections_file(model: str) -> Response:
        path = workspace.corrections_file(_known(model, registry))
        content = path.read_bytes() if path.exists() else b""
        headers = {"Content-Disposition": 'attachment; filename="corrections.jsonl"'}
        return Response(content, media_type="application/jsonl", headers=headers)


def _guard(request: Request, workspace: Workspace) -> None:
    """Refuse to change anything for other people's web pages, which a browser lets send requests here."""
    if not hmac.compare_digest(request.headers.get(_TOKEN, "").encode(), workspace.token.encode()):
        raise HttpError(403, "no_token", "the page is older than the service; load it again")
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise HttpError(403, "wrong_origin", "only the service's own page may do this")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HttpError(403, "wrong_origin", "only the service's own page may do this")


def _free_name(name: Any, workspace: Workspace, registry: ModelRegistry) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not name.strip("."):
        raise HttpError(422, "invalid", "a model's name has letters, digits, . _ and -, at most 60", where="name")
    pending = {job.name for job in workspace.store.jobs() if job.state in ("queued", "running")}
    if registry.get(name) is not None or (workspace.settings.folder / "models" / name).exists() or name in pending:
        raise HttpError(409, "taken", f"there is a model called {name!r} already; choose another name", where="name")
    return name


def _known(model: str, registry: ModelRegistry) -> str:
    if registry.get(model) is None:
        raise HttpError(404, "unknown_model", "there is no such model", where="model")
    return model


def _job(workspace: Workspace, job: str) -> Job:
    found = workspace.store.job(job)
    if found is None:
        raise HttpError(404, "not_found", "there is no such job", where="job")
    return found


def _shown(job: Job) -> dict[str, Any]:
    """A job without what is nobody's business, such as where things are on the disk."""
    hidden = {"out", "model"}
    settings = {name: value for name, value in job.settings.items() if name not in hidden}
    return {**asdict(job), "settings": settings}


def _short(upload: dict[str, Any]) -> dict[str, Any]:
    return {name: upload[name] for name in ("id", "name", "created", "rows", "bad")}


def _export(given: str, registry: ModelRegistry) -> dict[str, Any]:
    """What the page wants as a file, with what its model says of itself."""
    try:
        asked = json.loads(given)
        model = registry.get(asked["model"])
        rules, kind, title = asked["rules"], asked["format"], str(asked["title"])
    except (ValueError, KeyError, TypeError) as error:
        raise HttpError(422, "invalid", f"an export is {{model, format, title, rules}} ({error})") from None
    if model is None:
        raise HttpError(404, "unknown_model", "there is no such model", where="model")
    if kind not in MEDIA_TYPES:
        raise HttpError(422, "invalid", f"a format is one of {', '.join(MEDIA_TYPES)}", where="format")
    labels, supervision = list(model.labeller.label_names), model.labeller.manifest.supervision
    return {"labels": labels, "rules": rules, "format": kind, "title": title, "supervision": supervision}


def _is_record(record: Any) -> bool:
    return (
        isinstance(record, dict) and isinstance(record.get("marks"), list) and isinstance(record.get("example"), dict)
    )
