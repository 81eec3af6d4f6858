"""Work ends when its client has gone, at the time limit of its request, and at the end of the service."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tiny
from services import Reply, Service, until
from zerotag.explain import create
from zerotag.inference.cancellation import CancelToken, WorkCancelledError, cancellable, check_cancelled
from zerotag.labeller import Labeller, load
from zerotag.serve.settings import Settings
from zerotag.types import Sentence

LONG = " ".join(f"word{number}" for number in range(200))
STARTED = 'zerotag_queue{model="one",queue="explain"}'


class Batches:
    """Counts the batches that reach the network, each of which takes a while."""

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.05
        self.stuck = threading.Event()
        self.stuck.set()


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Batches]:
    """A LIME request for 200 words has hundreds of batches: it would take half a minute."""
    batches = Batches()

    def slow() -> None:
        check_cancelled()
        batches.count += 1
        time.sleep(batches.seconds)
        assert batches.stuck.wait(60)

    monkeypatch.setattr("zerotag.inference.torch_predictor.check_cancelled", slow)  # before each batch
    yield batches
    batches.stuck.set()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "one"
    tiny.labeller().save_pretrained(folder)
    return folder


def lime_request(service: Service) -> socket.socket:
    """A connection on which LIME was asked for, and is under way."""
    body = json.dumps({"texts": [LONG], "method": "lime"}).encode()
    connection = service.connect()
    connection.sendall(
        b"POST /v1/label HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    return connection


def ends(batches: Batches, within: float = 2.0) -> None:
    """The network is called no more, soon."""
    time.sleep(within)
    count = batches.count
    time.sleep(10 * batches.seconds)
    assert batches.count == count


@pytest.mark.parametrize(
    "method", ["lime", "occlusion", "integrated-gradients", "gradient-x-input", "heads:1.1", "native"]
)
def test_scorers_end_between_batches(method: str) -> None:
    scorer = create(method, tiny.labeller())
    token = CancelToken()
    sentences = [Sentence.from_words(words) for words, _ in tiny.sentences(3)]
    with cancellable(token):
        assert len(list(scorer.score(sentences))) == 3
        passes = scorer.passes
        token.cancel()
        with pytest.raises(WorkCancelledError):
            list(scorer.score(sentences))
    assert scorer.passes == passes or method in ("lime", "occlusion")  # those count passes when they plan them
    assert len(list(scorer.score(sentences))) == 3  # the token was for the work inside


def test_a_token_ends_work_that_is_under_way(batches: Batches) -> None:
    token = CancelToken()
    threading.Timer(0.3, token.cancel).start()
    started = time.monotonic()
    with cancellable(token), pytest.raises(WorkCancelledError):
        list(create("lime", tiny.labeller()).score([Sentence.from_words(LONG.split())]))
    assert time.monotonic() - started < 3
    assert batches.count < 20


def test_work_ends_when_its_client_has_gone(folder: Path, batches: Batches) -> None:
    with Service({"one": folder}) as service:
        with lime_request(service):
            until(lambda: batches.count > 2)
        ends(batches)
        batches.seconds = 0.0
        assert service.label(["the pump may fail"], method="occlusion").status == 200  # the queue is free again
        assert service.get("/readyz").status == 200


def test_work_ends_at_the_time_limit_of_its_request(folder: Path, batches: Batches) -> None:
    with Service({"one": folder}, Settings(request_seconds=1.0)) as service:
        started = time.monotonic()
        reply = service.label([LONG], method="lime")
        assert (reply.status, reply.code) == (504, "too_slow")
        assert 1.0 <= time.monotonic() - started < 5
        ends(batches)


def test_work_ends_soon_after_the_service_is_told_to(
    folder: Path, batches: Batches, caplog: pytest.LogCaptureFixture
) -> None:
    service = Service({"one": folder}, Settings(shutdown_seconds=1.0))
    with ThreadPoolExecutor(1) as client:
        with service:
            reply = client.submit(service.label, [LONG], method="lime")
            until(lambda: batches.count > 2)
            started = time.monotonic()
        assert 1.0 <= time.monotonic() - started < 8
        answer: Reply = reply.result()
    assert (answer.status, answer.code) == (503, "ending")
    assert "gave up requests that were not done 1 s after the signal to end: 1 in one-explain" in caplog.text


def test_work_that_does_not_end_cannot_hold_up_the_service(
    folder: Path, batches: Batches, caplog: pytest.LogCaptureFixture
) -> None:
    service = Service({"one": folder}, Settings(request_seconds=0.5, stuck_seconds=0.2, shutdown_seconds=0.5))
    with service:
        batches.stuck.clear()
        assert service.label(["the pump may fail"], method="occlusion").status == 504
        until(lambda: service.get("/readyz").status == 503)
        assert service.get("/readyz").json == {
            "status": "not ready",
            "models": {"one": "not ready: the queue one-explain is stuck"},
        }
        assert service.get("/healthz").status == 200
        batches.stuck.set()
        until(lambda: service.get("/readyz").status == 200)
        batches.stuck.clear()
        assert service.label(["the pump may fail"], method="occlusion").status == 504
        started = time.monotonic()
    assert time.monotonic() - started < 10
    assert "the service ends although work in one-explain does not" in caplog.text


def test_a_reload_that_hangs_leaves_the_earlier_model_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, other = tmp_path / "one", tmp_path / "other"
    hanging: set[Path] = set()

    def load_slowly(its_folder: Path, **options: Any) -> Labeller:
        while its_folder in hanging:  # as on a network file system that is away
            time.sleep(0.05)
        return load(its_folder, **options)

    monkeypatch.setattr("zerotag.serve.model_registry.load", load_slowly)
    tiny.labeller().save_pretrained(folder)
    tiny.labeller().save_pretrained(other)
    settings = Settings(watch_seconds=0.05, reload_seconds=1.0)
    with Service({"one": folder, "other": other}, settings) as service:
        hanging.add(folder)
        tiny.labeller(labels=("never",)).save_pretrained(folder)
        until(lambda: service.get("/readyz").status == 503)
        hangs = "not ready: loading its folder did not end within 1 seconds"
        assert service.get("/readyz").json["models"] == {"one": hangs, "other": "ready"}
        assert service.label(["the pump may fail"]).status == 200
        tiny.labeller(labels=("new",)).save_pretrained(other)
        until(lambda: service.get("/v1/models").json["models"][1]["labels"] == ["new"])
        hanging.clear()
        tiny.labeller(labels=("newer",)).save_pretrained(folder)
        until(lambda: service.get("/readyz").status == 200)
        assert service.get("/v1/models").json["models"][0]["labels"] == ["newer"]


def test_a_reload_of_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    tiny.labeller().save_pretrained(folder)
    with Service({"one": folder}, Settings(watch_seconds=0.05)) as service:
        manifest = folder / "zerotag.json"
        whole = manifest.read_bytes()
        manifest.unlink()
        os.mkfifo(manifest)
        refused = "ready; its new folder cannot be loaded"
        until(lambda: service.get("/readyz").json["models"] == {"one": refused}, 10)
        assert service.label(["the pump may fail"]).status == 200
        manifest.unlink()
        manifest.write_bytes(whole)
        until(lambda: service.get("/readyz").json["models"] == {"one": "ready"})


def test_the_command_ends_within_its_bound_after_sigterm(folder: Path) -> None:
    from service_processes import Running

    running = Running(folder, "--shutdown-seconds", 1)
    body = json.dumps({"texts": [LONG] * 16, "method": "lime"}).encode()
    with socket.create_connection(("127.0.0.1", int(running.url.rpartition(":")[2])), timeout=60) as connection:
        connection.sendall(
            b"POST /v1/label HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        )
        time.sleep(1)
        started = time.monotonic()
        code, logged = running.end(by=signal.SIGTERM)
        assert time.monotonic() - started < 10
        assert code == -signal.SIGTERM
        assert logged == "gave up requests that were not done 1 s after the signal to end: 1 in one-explain\n"
        assert connection.recv(100).startswith(b"HTTP/1.1 503 ")
