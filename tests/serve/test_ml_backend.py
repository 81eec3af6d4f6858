"""The addresses that Label Studio asks of an ML backend."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiny
from services import JSON, Reply, Service
from zerotag.labeller import load
from zerotag.serve.settings import Settings

CONFIG = '<View><Text name="t" value="$body"/><Labels name="ner" toName="t"><Label value="hedge"/></Labels></View>'
TEXTS = ["The \U0001f600 pump may fail.", "", "Rain."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "hedges"
    tiny.labeller().with_threshold(0.5).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    with Service({"hedges": folder}) as running:
        yield running


def post(service: Service, path: str, body: object) -> Reply:
    return service.ask("POST", path, json.dumps(body), JSON)


def test_health_and_setup(service: Service) -> None:
    assert service.get("/health").json == {"status": "UP", "model_class": "hedges"}
    reply = post(service, "/setup", {"project": "1.2", "schema": CONFIG, "hostname": "", "access_token": "x"})
    assert reply.status == 200
    assert reply.json["model_version"].startswith("hedges-")
    assert post(service, "/setup", {"schema": "<View/>"}).status == 422
    assert post(service, "/webhook", {"action": "ANNOTATION_CREATED"}).status == 201


def test_predictions_are_those_of_the_model(service: Service, folder: Path) -> None:
    tasks = [{"id": n, "data": {"body": text}} for n, text in enumerate(TEXTS)]
    reply = post(service, "/predict", {"tasks": tasks, "project": "1", "label_config": CONFIG, "params": {}})
    assert reply.status == 200
    assert reply.json["model_version"] == post(service, "/setup", {"schema": CONFIG}).json["model_version"]
    for found, one in zip(reply.json["results"], load(folder).label(TEXTS), strict=True):
        assert found["score"] == pytest.approx(one.score, abs=1e-5)
        assert [(item["from_name"], item["value"]["start"], item["value"]["end"]) for item in found["result"]] == [
            ("ner", span.start, span.end) for span in one.spans
        ]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "tasks"),
        ({"tasks": [{"data": {"text": "a"}}], "label_config": CONFIG}, "tasks[0]"),
        ({"tasks": [3]}, "tasks[0]"),
        ({"tasks": [], "label_config": 3}, "label_config"),
        ({"tasks": [], "label_config": "<!DOCTYPE a><a/>"}, "label_config"),
    ],
)
def test_wrong_requests_are_told_apart(service: Service, body: object, where: str) -> None:
    reply = post(service, "/predict", body)
    assert reply.status == 422
    assert reply.json["error"]["where"] == where


def test_the_key_may_come_as_a_password(folder: Path) -> None:
    with Service({"hedges": folder}, Settings(api_key="k" * 20)) as running:
        assert running.get("/health").status == 401
        for given, status in ((b"label-studio:" + b"k" * 20, 200), (b"label-studio:other", 401), (b"k" * 20, 401)):
            basic = {"Authorization": f"Basic {base64.b64encode(given).decode()}"}
            assert running.get("/health", **basic).status == status
        assert running.get("/health", Authorization="Basic %%%").status == 401
        assert running.get("/health", Authorization=f"Bearer {'k' * 20}").status == 200
