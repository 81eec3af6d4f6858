"""What Label Studio asks of an ML backend: the address of the service is entered under "Model" in a project's settings.

The default model answers. Its labels are those of the project's configuration that it knows by name.
"""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import JSONResponse, Response

from zerotag.errors import ZerotagError
from zerotag.io.annotation.labelstudio import Names, names_in, prediction
from zerotag.serve.labelling import Labelling
from zerotag.serve.models import ServedModel
from zerotag.serve.problems import HttpError
from zerotag.serve.requests import LabelRequest, read_json, sentences_of
from zerotag.serve.settings import Settings


def add_ml_backend(app: FastAPI, settings: Settings, labelling: Labelling) -> None:
    """The four addresses that Label Studio asks."""

    @app.get("/health", include_in_schema=False)
    async def health() -> Response:
        return JSONResponse({"status": "UP", "model_class": labelling.model().name})

    @app.post("/setup", include_in_schema=False)
    async def setup(request: Request) -> Response:
        document = await read_json(request, settings)
        _names(document.get("schema"))
        return JSONResponse({"model_version": _version(labelling.model())})

    @app.post("/predict", include_in_schema=False)
    async def predict(request: Request) -> Response:
        document = await read_json(request, settings)
        names, served = _names(document.get("label_config")), labelling.model()
        texts = [_text(task, names, number) for number, task in enumerate(_tasks(document))]
        asked = LabelRequest(sentences_of(texts, settings.limits, served.labeller.segment, "tasks"), None, None)
        _, records = await labelling.answer(request, served, asked)
        version = _version(served)
        results = [prediction(json.loads(record), names, version) for record in records]
        return JSONResponse({"results": results, "model_version": version})

    @app.post("/webhook", include_in_schema=False)
    async def webhook(request: Request) -> Response:
        await read_json(request, settings)  # models are trained by `zerotag train` and `zerotag tune`, not by events
        return JSONResponse({}, 201)


def _version(model: ServedModel) -> str:
    return f"{model.name}-{model.revision}"


def _names(config: Any) -> Names:
    """The names in the configuration of a project; those of the documentation where none is sent."""
    if not config:
        return Names()
    if not isinstance(config, str):
        raise HttpError(422, "invalid", "the labelling configuration is not a string", where="label_config")
    try:
        return names_in(config)
    except ZerotagError as error:
        raise HttpError(422, "invalid", str(error), where="label_config") from None


def _tasks(document: dict[str, Any]) -> list[Any]:
    tasks = document.get("tasks")
    if not isinstance(tasks, list):
        raise HttpError(422, "invalid", "tasks is not a list", where="tasks")
    return tasks


def _text(task: Any, names: Names, number: int) -> str:
    data = task.get("data") if isinstance(task, dict) else None
    text = data.get(names.key) if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise HttpError(422, "invalid", f"the data of a task have no text {names.key!r}", where=f"tasks[{number}]")
    return text
