"""What the service answers: the records of the library, and a JSON reason for everything else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny
from services import JSON, Service
from zerotag.config import ModelConfig
from zerotag.io.writers.jsonl import encode, record
from zerotag.labeller import Labeller, WordLabeller
from zerotag.serve.assets import PAGE
from zerotag.serve.settings import Limits, Settings
from zerotag.types import Rule

LIMITS = Limits(
    texts=5,
    characters=200,
    words=20,
    word_characters=30,
    body_bytes=4000,
    explained_texts=2,
    explained_words=6,
)
ONE = tiny.labeller()
THREE = tiny.labeller("roberta", labels=("hedge", "fault", "wet"))
CLASSIFIER = tiny.labeller(config=ModelConfig(encoder="tiny", depth=2, window=32, head="cls"))
ODD_TEXTS = [
    "",
    " ",
    "\0",
    "a\0b",
    "😀 🇨🇭",
    "<script>alert(1)</script>",
    "é\u0301",
    "a\u2028b",
    "[SEP] [CLS]",
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("models")
    models = {"one": ONE, "three": THREE, "classifier": CLASSIFIER}
    for name, labeller in models.items():
        labeller.save_pretrained(folder / name)
    with Service({name: folder / name for name in models}, Settings(limits=LIMITS)) as running:
        yield running


def expected(labeller: WordLabeller, texts: list[Any]) -> list[dict[str, Any]]:
    return [json.loads(encode(record(labelled, labeller.label_names))) for labelled in labeller.label(texts)]


def test_records_are_those_of_the_library(service: Service) -> None:
    texts: list[Any] = ["The pump may fail in winter.", ["a", "valve", "possibly", "leaks"], "It holds."]
    reply = service.label(texts)
    assert reply.status == 200
    (revision, *_) = (model["revision"] for model in service.get("/v1/models").json["models"])
    assert reply.json == {
        "model": "one",
        "revision": revision,
        "method": "native",
        "results": expected(ONE, texts),
    }
    assert reply.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("threshold", [0, 0.35, 1, {"hedge": 0.35}, None])
def test_a_request_may_have_a_threshold(service: Service, threshold: Any) -> None:
    texts = ["The pump may fail in winter.", "It holds."]
    expected = [json.loads(encode(record(one, ["hedge"]))) for one in ONE.label(texts, threshold=threshold)]
    assert service.label(texts, threshold=threshold).json["results"] == expected
    if threshold in (0, 1):
        assert {word["label"] for one in expected for word in one["words"]} == {"hedge" if threshold == 0 else None}


def test_a_threshold_for_one_label_and_another_method(service: Service) -> None:
    texts = ["The pump may fail in winter."]
    low = {"wet": 0.0}
    expected = [json.loads(encode(record(one, THREE.label_names))) for one in THREE.label(texts, threshold=low)]
    assert service.label(texts, model="three", threshold=low).json["results"] == expected
    texts = ["It may rain"]
    by_occlusion = ONE.label(texts, method="occlusion", threshold=0.001)
    expected = [json.loads(encode(record(one, ["hedge"]))) for one in by_occlusion]
    assert service.label(texts, method="occlusion", threshold=0.001).json["results"] == expected
    unknown = service.label(texts, threshold={"wet": 0.5})
    assert (unknown.status, unknown.code, unknown.json["error"]["where"]) == (404, "unknown_label", "threshold")


def test_several_labels(service: Service) -> None:
    texts = ["The pump may fail in winter."]
    reply = service.label(texts, model="three")
    assert reply.json["results"] == expected(THREE, texts)
    assert set(reply.json["results"][0]["scores"]) == {"hedge", "fault", "wet"}


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_come_back_as_they_were(service: Service, text: str) -> None:
    for given in (text, [text]):
        reply = service.label([given])
        assert reply.status == 200
        assert reply.json["results"] == expected(ONE, [given])
        assert reply.json["results"][0]["text"] == text


@pytest.mark.parametrize("text", ["", " \n", "\0", [], [""], [" ", "\t"]])
def test_a_text_without_words_has_no_label(service: Service, text: Any) -> None:
    certain = ONE.with_rules([Rule(word_threshold=0.0, sentence_threshold=0.0)])
    for labeller in (certain, ONE):
        (labelled,) = labeller.label([text])
        assert (labelled.label, labelled.labels, labelled.spans) == (None, (), ())
        assert [word.label for word in labelled.words] == [None] * len(labelled.words)
    assert certain.label(["a"])[0].labels == ("hedge",)
    (result,) = service.label([text]).json["results"]
    assert (result["label"], result["spans"]) == (None, [])


def test_no_texts_and_no_words(service: Service) -> None:
    assert service.label([]).json["results"] == []
    assert service.label([[]]).json["results"] == expected(ONE, [[]])


@pytest.mark.parametrize(
    ("body", "code", "where"),
    [
        (b"", "not_json", None),
        (b"{", "not_json", None),
        (b'{"texts": ["\xff"]}', "not_json", None),
        (b'{"texts": NaN}', "invalid", "texts"),
        (b'{"texts": ' + b"9" * 2000 + b"}", "invalid", "texts"),
        (b"[" * 3000, "not_json", None),
        (b'["It may rain."]', "invalid", None),
        (b"{}", "invalid", "texts"),
        (b'{"texts": "It may rain."}', "invalid", "texts"),
        (b'{"texts": ["a", 3]}', "invalid", "texts[1]"),
        (b'{"texts": [null]}', "invalid", "texts[0]"),
        (b'{"texts": [["a", {}]]}', "invalid", "texts[0][1]"),
        (b'{"texts": [], "model": 1}', "invalid", "model"),
        (b'{"texts": ["\\ud800"]}', "not_json", None),
        (b'{"texts": [], "text": 1}', "invalid", "text"),
        (b'{"texts": [], "threshold": 1.5}', "invalid", "threshold"),
        (b'{"texts": [], "threshold": -0.1}', "invalid", "threshold"),
        (b'{"texts": [], "threshold": true}', "invalid", "threshold"),
        (b'{"texts": [], "threshold": NaN}', "invalid", "threshold"),
        (b'{"texts": [], "threshold": 1e400}', "invalid", "threshold"),
        (b'{"texts": [], "threshold": "0.5"}', "invalid", "threshold"),
        (b'{"texts": [], "threshold": {"hedge": "0.5"}}', "invalid", "threshold['hedge']"),
    ],
)
def test_what_is_wrong_is_said(service: Service, body: bytes, code: str, where: str | None) -> None:
    reply = service.ask("POST", "/v1/label", body, JSON)
    assert (reply.status, reply.code, reply.json["error"].get("where")) == (422, code, where)
    assert "\n" not in reply.json["error"]["message"]


@pytest.mark.parametrize(
    ("texts", "where"),
    [
        (["a"] * 6, "texts"),
        (["a", "x" * 201], "texts[1]"),
        (["a", "a " * 21], "texts[1]"),
        ([["a"] * 21], "texts[0]"),
        ([["a", "x" * 31]], "texts[0][1]"),
        (["a", "x" * 31], "texts[1]"),
        ([["a" * 29] * 7], "texts[0]"),
    ],
)
def test_limits(service: Service, texts: list[Any], where: str) -> None:
    reply = service.label(texts)
    assert (reply.status, reply.code, reply.json["error"]["where"]) == (413, "too_large", where)


def test_what_is_just_within_the_limits_is_taken(service: Service) -> None:
    assert service.label([["a" * 30], "a " * 20, ["a" * 9] * 20, "", ""]).status == 200


def test_a_body_over_the_limit_is_refused_before_it_is_read(service: Service) -> None:
    announced = service.ask("POST", "/v1/label", b" " * 4001, JSON)
    assert (announced.status, announced.code) == (413, "too_large")
    with service.connect() as connection:  # in pieces, without saying how much will come, and without an end
        connection.sendall(
            b"POST /v1/label HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + b"3e8\r\n" + b" " * 1000 + b"\r\n"
        )
        connection.sendall(4 * (b"3e8\r\n" + b" " * 1000 + b"\r\n"))
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
    assert service.ask("POST", "/v1/label", b'{"texts": []}' + b" " * 3987, JSON).status == 200


def test_forms_of_other_pages_are_not_read(service: Service) -> None:
    reply = service.ask("POST", "/v1/label", '{"texts": []}', {"Content-Type": "text/plain"})
    assert (reply.status, reply.code) == (415, "not_json")


def test_unknown_names(service: Service) -> None:
    reply = service.label([], model="two")
    assert (reply.status, reply.code) == (404, "unknown_model")
    assert "one, three, classifier" in reply.json["error"]["message"]
    for method in ("magic", "heads:9.1", "heads", ""):
        reply = service.label([], method=method)
        assert (reply.status, reply.code, reply.json["error"]["where"]) == (404, "unknown_method", "method")
    assert (service.get("/nowhere").status, service.get("/nowhere").code) == (404, "not_found")
    assert service.get("/v1/models/").code == "not_found"
    wrong = service.get("/v1/label")
    assert (wrong.status, wrong.code, wrong.headers["Allow"]) == (405, "wrong_method", "POST")


@pytest.mark.parametrize("path", ["/", "/healthz", "/v1/models"])
def test_head_is_get_without_the_body(service: Service, path: str) -> None:
    head, get = service.ask("HEAD", path), service.get(path)
    assert (head.status, head.body) == (get.status, b"") == (200, b"")
    for name in ("Content-Type", "Content-Length"):
        assert head.headers[name] == get.headers[name]
    assert service.ask("HEAD", "/v1/label").status == 405
    assert service.metric(f'zerotag_requests_total{{method="HEAD",route="{path}",status="200"}}') == 1


def test_other_methods_have_limits_of_their_own(service: Service) -> None:
    reply = service.label(["the pump may fail"], method="occlusion")
    assert reply.json["method"] == "occlusion"
    assert [word["text"] for word in reply.json["results"][0]["words"]] == ["the", "pump", "may", "fail"]
    assert service.label(["the pump may fail"], method="heads:1.2").status == 200
    assert service.label(["a"] * 3, method="occlusion").json["error"]["where"] == "texts"
    assert service.label(["a", "a " * 7], method="occlusion").json["error"]["where"] == "texts[1]"


def test_a_plain_classifier_answers_by_a_method_that_it_has(service: Service) -> None:
    reply = service.label(["the pump may fail"], model="classifier")
    assert (reply.status, reply.json["method"]) == (200, "occlusion")
    assert service.label(["the pump may fail"], model="classifier", method="native").status == 404


def test_a_model_without_torch_has_its_own_scores_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    exported = Labeller(ONE.predictor, ONE.aligner, ONE.manifest)
    monkeypatch.setattr("zerotag.serve.model_registry.load", lambda *_, **__: exported)
    with Service({"one": tmp_path}) as service:
        assert service.get("/v1/models").json["models"][0]["methods"] == ["native"]
        assert service.label(["a b"]).json["results"] == expected(ONE, ["a b"])
        assert service.label(["a b"], method="occlusion").code == "unknown_method"


def test_models(service: Service) -> None:
    answer = service.get("/v1/models").json
    assert answer["limits"]["characters"] == 200
    one, three, classifier = answer["models"]
    own = {"word_threshold": 0.5, "sentence_threshold": 0.5, "origin": "fixed", "exclusive": False}
    fixed = {**own, "origin": "fixed, as for every method but the model's own"}
    others = ["occlusion", "gradient-x-input", "integrated-gradients", "lime", "adaptive-lime"]
    assert len({one["revision"], three["revision"], classifier["revision"]}) == 3
    assert one == {
        "name": "one",
        "revision": one["revision"],
        "labels": ["hedge"],
        "rules": {"hedge": own},
        "segmenter": "standard",
        "methods": ["native", *others],
        "rules_by_method": {"native": {"hedge": own}, **{method: {"hedge": fixed} for method in others}},
        "default": True,
        "encoder": "tiny",
        "depth": 2,
        "scores": {},
        "word_labels": {},
    }
    assert three["labels"] == ["hedge", "fault", "wet"]
    assert (three["default"], "native" in classifier["methods"]) == (False, False)
    assert list(classifier["rules_by_method"]) == classifier["methods"]


def test_health_and_metrics(service: Service) -> None:
    assert service.get("/healthz").json == {"status": "ok"}
    assert service.get("/readyz").json["models"] == {"one": "ready", "three": "ready", "classifier": "ready"}
    answered = 'zerotag_requests_total{method="POST",route="/v1/label",status="200"}'
    labelled = 'zerotag_sentences_total{model="one",queue="native"}'
    service.label(["a"])
    before = [service.metric(answered), service.metric(labelled)]
    service.label(["a", "b"])
    assert [service.metric(answered), service.metric(labelled)] == [before[0] + 1, before[1] + 2]
    assert service.metric('zerotag_queue{model="one",queue="native"}') == 0
    service.get("/made-up/by-a-client")
    assert b"made-up" not in service.get("/metrics").body


def test_every_answer_has_the_security_headers(service: Service) -> None:
    for reply in (service.get("/"), service.get("/v1/models"), service.get("/nowhere"), service.label(3)):
        policy = reply.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Referrer-Policy"] == "no-referrer"


def test_files_of_the_page(service: Service) -> None:
    page = service.get("/")
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.body == (PAGE / "index.html").read_bytes()
    script = next(PAGE.glob("*.js")).name
    reply = service.get(f"/assets/{script}")
    assert reply.headers["Content-Type"] == "text/javascript; charset=utf-8"
    again = service.ask("GET", f"/assets/{script}", headers={"If-None-Match": reply.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    for path in ("..%2fapp.py", "%2e%2e/app.py", "../app.py", "/etc/passwd", "%2fetc%2fpasswd", ".", ""):
        assert service.get(f"/assets/{path}").status == 404


def test_the_description_needs_nothing_from_elsewhere(service: Service) -> None:
    docs = service.get("/docs").body.decode()
    assert "POST /v1/label" in docs
    for sign in ("http://", "https://", "style=", "<script>", "`"):
        assert sign not in docs
    needed = re.findall(r'(?:href|src)="(assets/[^"]+)"', docs)
    assert len(needed) == 4
    assert all(service.get(f"/{name}").status == 200 for name in needed)


def test_no_error_says_where_anything_is(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def explode(*_: object) -> None:
        raise RuntimeError("the secret text")

    monkeypatch.setattr("zerotag.serve.models.render_scored", explode)
    reply = service.label(["a secret text"])
    assert (reply.status, reply.code) == (500, "failed")
    for place in (reply.body.decode(), caplog.text):
        assert "secret" not in place
        assert str(Path(__file__).parents[2]) not in place
    assert "RuntimeError in" in caplog.text
    assert "test_service_api.py:" in caplog.text
