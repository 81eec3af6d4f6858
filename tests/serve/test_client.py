"""The client: the labeller of a service as if it were here, through bad weather."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

import tiny
from services import Service, until
from zerotag.errors import ZerotagError
from zerotag.labeller import WordLabeller
from zerotag.serve.client import Client
from zerotag.serve.settings import Limits, Settings
from zerotag.types import Labelled

ONE = tiny.labeller()
THREE = tiny.labeller("roberta", labels=("hedge", "fault", "wet"))
KEY = "0123456789abcdef"
WITH_PORT = "http://127.0.0.1:{}".format


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("models")
    ONE.save_pretrained(folder / "one")
    THREE.save_pretrained(folder / "three")
    limits = Limits(texts=7, body_bytes=2000, characters=1000, explained_texts=2)
    settings = Settings(limits=limits, api_key=KEY)
    with Service({"one": folder / "one", "three": folder / "three"}, settings) as running:
        yield running


@pytest.fixture
def client(service: Service) -> Client:
    return Client(service.url, api_key=KEY)


def assert_same(found: Sequence[Labelled], labeller: WordLabeller, texts: Sequence[Any]) -> None:
    expected = labeller.label(texts)
    assert [one.text for one in found] == [one.text for one in expected]
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.labels, ours.label) == (theirs.labels, theirs.label)
        assert ours.scores == pytest.approx(theirs.scores, abs=2e-6)
        assert [(w.text, w.start, w.end, w.labels) for w in ours.words] == [
            (w.text, w.start, w.end, w.labels) for w in theirs.words
        ]
        for word, its in zip(ours.words, theirs.words, strict=True):
            assert word.scores == pytest.approx(its.scores, abs=2e-6)
        assert [(s.text, s.start, s.end, s.label) for s in ours.spans] == [
            (s.text, s.start, s.end, s.label) for s in theirs.spans
        ]


@pytest.mark.parametrize(("name", "labeller"), [("one", ONE), ("three", THREE)])
def test_it_gives_what_the_library_gives(client: Client, name: str, labeller: WordLabeller) -> None:
    texts: list[Any] = [" ".join(words) for words, _ in tiny.sentences(30)]
    texts += [["a", "<b>"], "", [], "😀 é\0"]
    assert_same(client.label(texts, model=name), labeller, texts)


def test_a_threshold_goes_along(client: Client) -> None:
    (result,) = client.label(["The pump may fail."], threshold=0)
    assert all(word.label is not None for word in result.words)
    with pytest.raises(ZerotagError, match="threshold: Input should be less than or equal to 1"):
        client.label(["The pump may fail."], threshold=2)


def test_it_keeps_to_the_limits_of_the_service(client: Client, service: Service) -> None:
    count = 'zerotag_requests_total{method="POST",route="/v1/label",status="200"}'
    headers = {"Authorization": f"Bearer {KEY}"}

    def requests() -> int:
        metrics = service.ask("GET", "/metrics", headers=headers).body.decode()
        return next((int(float(line.split()[-1])) for line in metrics.splitlines() if line.startswith(count)), 0)

    before = requests()
    assert len(client.label(["a"] * 15)) == 15
    assert requests() == before + 3  # 7 texts at a time
    assert len(client.label(["x " * 400] * 4)) == 4
    assert requests() == before + 7  # two of them would be more than 2000 bytes
    assert len(client.label(["a b"] * 3, method="occlusion")) == 3
    assert requests() == before + 9
    assert client.label([]) == []
    assert requests() == before + 9


def test_a_text_that_is_too_long_is_named_as_the_caller_counts(client: Client) -> None:
    with pytest.raises(ZerotagError, match=r"^texts\[9\]: String should have at most 1000 characters$"):
        client.label(["a"] * 9 + ["x" * 1001])


def test_what_the_service_refuses_is_said_at_once(client: Client, service: Service) -> None:
    with pytest.raises(ZerotagError, match=r"^model: there is no such model; there are: one, three$"):
        client.label(["a"], model="two")
    with pytest.raises(ZerotagError, match=r"^method: unknown method 'magic'"):
        client.label(["a"], method="magic")
    with pytest.raises(ZerotagError, match="send the API key"):
        Client(service.url).models()
    with pytest.raises(TypeError, match="list of texts"):
        client.label("a")


def test_a_model_that_is_replaced_is_noticed(tmp_path: Path) -> None:
    ONE.save_pretrained(tmp_path / "one")
    with Service({"one": tmp_path / "one"}, Settings(watch_seconds=0.05)) as service:
        client = Client(service.url)
        assert_same(client.label(["a b"]), ONE, ["a b"])
        other = tiny.labeller("roberta", labels=("other",))
        other.save_pretrained(tmp_path / "one")
        until(lambda: service.get("/v1/models").json["models"][0]["labels"] == ["other"])
        assert_same(client.label(["a b"]), other, ["a b"])


def test_addresses_that_are_none() -> None:
    for url in ("localhost:8000", "ftp://localhost", "http://", "", "http://[::1", *map(WITH_PORT, ("abc", 0, 65536))):
        with pytest.raises(ZerotagError, match="is not the address of a service"):
            Client(url)
    Client(WITH_PORT(65535))


class Moody(BaseHTTPRequestHandler):
    """A service that answers as it is told to, request by request."""

    moods: ClassVar[list[str]] = []
    waits: ClassVar[list[float]] = []
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        model = {"name": "one", "revision": "1", "labels": ["hedge"], "default": True}
        limits = {"texts": 10, "explained_texts": 1, "body_bytes": 10_000}
        self._reply(200, json.dumps({"models": [model], "limits": limits}))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        mood = self.moods.pop(0) if self.moods else "good"
        if mood == "good":
            record = '{"text": "a", "score": 0.5, "label": null, "words": [], "spans": []}'
            self._reply(200, f'{{"model": "one", "revision": "1", "results": [{record}]}}')
        elif mood == "gone":
            self.close_connection = True
        elif mood == "html":
            self._reply(200, "<html>")
        elif mood == "bare":
            self._reply(500, "<html>")
        else:
            self._reply(int(mood), '{"error": {"code": "busy", "message": "come back later"}}', {"Retry-After": "3"})

    def _reply(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def moody(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Moody, "moods", [])
    monkeypatch.setattr(Moody, "waits", [])
    monkeypatch.setattr("time.sleep", Moody.waits.append)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Moody)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_it_tries_again_when_the_service_is_busy_or_away(moody: str) -> None:
    Moody.moods[:] = ["429", "gone", "503", "good"]
    assert Client(moody).label(["a"])[0].scores == {"hedge": 0.5}
    busy, away, ending = Moody.waits
    assert 3.05 <= busy <= 3.1  # what it asked for, and a little of chance
    assert 0.1 <= away <= 0.2
    assert 3.2 <= ending <= 3.4


def test_it_gives_up_in_the_end(moody: str) -> None:
    Moody.moods[:] = ["429"] * 10
    with pytest.raises(ZerotagError, match=r"^come back later$"):
        Client(moody, retries=2).label(["a"])
    assert len(Moody.waits) == 2


@pytest.mark.parametrize(
    ("mood", "complaint"),
    [("html", "does not answer as a zerotag service does"), ("bare", "500 Internal Server Error")],
)
def test_services_of_another_kind(moody: str, mood: str, complaint: str) -> None:
    Moody.moods[:] = [mood]
    with pytest.raises(ZerotagError, match=complaint):
        Client(moody).label(["a"])
    assert Moody.waits == []


@pytest.mark.usefixtures("moody")
def test_nobody_there() -> None:
    with pytest.raises(ZerotagError, match=r"http://127\.0\.0\.1:9 cannot be reached"):
        Client("http://127.0.0.1:9", retries=3).label(["a"])
    assert len(Moody.waits) == 3


def test_a_service_that_says_nothing() -> None:

    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = Client(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
        with pytest.raises(ZerotagError, match=r"did not answer within 0\.2 seconds"):
            client.models()
