"""Many clients at once, too many of them, and clients that misbehave."""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

import tiny
from services import Reply, Service, until
from zerotag.explain.native import NativeScorer
from zerotag.explain.occlusion import OcclusionScorer
from zerotag.io.writers.jsonl import record
from zerotag.serve.models import ServedModel
from zerotag.serve.settings import Settings
from zerotag.types import Scored, Sentence

HEAD = b"POST /v1/label HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
WAITING = 'zerotag_queue{model="one",queue="native"}'


class Gate:
    """Holds the model up until it is opened."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.reached = threading.Event()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "one"
    tiny.labeller().save_pretrained(folder)
    return folder


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    original = NativeScorer.score

    def wait(self: NativeScorer, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        gate.reached.set()
        assert gate.open.wait(60)
        return original(self, sentences)

    monkeypatch.setattr(NativeScorer, "score", wait)
    yield gate
    gate.open.set()


def test_everybody_gets_their_own_answers(folder: Path) -> None:
    labeller = tiny.labeller()
    texts = [" ".join(words) + f" {number}" for number, (words, _) in enumerate(tiny.sentences(240))]
    expected = {one.text: record(one, labeller.label_names) for one in labeller.label(texts)}
    batches = [texts[start : start + 1 + start % 5] for start in range(0, 235)]
    with Service({"one": folder}, Settings(queue=10**6, workers=2)) as service:
        with ThreadPoolExecutor(32) as clients:
            replies = list(clients.map(service.label, batches))
        rounds = service.metric('zerotag_batch_sentences_count{model="one",queue="native"}')
    for batch, reply in zip(batches, replies, strict=True):
        assert reply.status == 200
        for text, found in zip(batch, reply.json["results"], strict=True):
            assert found["text"] == text
            assert [word["text"] for word in found["words"]] == [word["text"] for word in expected[text]["words"]]
            assert [word["score"] for word in found["words"]] == pytest.approx(
                [word["score"] for word in expected[text]["words"]], abs=2e-6
            )
    assert rounds < len(batches)  # they shared


def test_at_overload_every_request_is_answered_or_refused_at_once(folder: Path, gate: Gate) -> None:
    texts = ["the pump may fail"] * 2  # 12 sub-words, about
    with Service({"one": folder}, Settings(queue=120, workers=1)) as service, ThreadPoolExecutor(40) as clients:
        first = clients.submit(service.label, texts)
        assert gate.reached.wait(60)
        rest = [clients.submit(service.label, texts) for _ in range(39)]
        until(lambda: sum(reply.done() for reply in rest) == 29)  # all that are refused, while the model still works
        refused = [reply.result() for reply in rest if reply.done()]
        gate.open.set()
        statuses = Counter(reply.result().status for reply in [first, *rest])
    assert statuses == {200: 11, 429: 29}  # one under way, and ten times 12 waiting
    assert {reply.code for reply in refused} == {"busy"}
    assert all(1 <= int(reply.headers["Retry-After"]) <= 60 for reply in refused)


def test_a_request_that_takes_too_long_is_given_up(folder: Path, gate: Gate) -> None:
    with Service({"one": folder}, Settings(request_seconds=0.2, workers=1)) as service:
        slow = [ThreadPoolExecutor(1).submit(service.label, ["a"]) for _ in range(2)]
        assert [(reply.result().status, reply.result().code) for reply in slow] == [(504, "too_slow")] * 2
        assert service.metric(WAITING) == 0
        gate.open.set()
        until(lambda: service.label(["a"]).status == 200)


def test_the_work_of_a_client_that_left_is_dropped(folder: Path, gate: Gate) -> None:
    with Service({"one": folder}, Settings(workers=1)) as service:
        first = ThreadPoolExecutor(1).submit(service.label, ["first"])
        assert gate.reached.wait(60)
        connection = service.connect()
        body = b'{"texts": ["never mind"]}'
        connection.sendall(HEAD.replace(b"100", str(len(body)).encode()) + body)
        until(lambda: service.metric(WAITING) > 0)
        connection.close()
        until(lambda: service.metric(WAITING) == 0)
        gate.open.set()
        assert first.result().status == 200
        assert service.metric('zerotag_sentences_total{model="one",queue="native"}') == 1


def half_a_body(service: Service) -> socket.socket:
    connection = service.connect()
    connection.sendall(HEAD + b'{"texts": ["half a')
    return connection


def test_half_a_body_costs_nobody_else(folder: Path) -> None:
    with Service({"one": folder}, Settings(body_seconds=25)) as service, ExitStack() as closing:
        hanging = [closing.enter_context(half_a_body(service)) for _ in range(50)]
        assert service.label(["a"]).status == 200
        assert select.select(hanging, [], [], 0)[0] == []  # they are waited for still


def test_half_a_body_is_not_waited_for_without_end(folder: Path) -> None:
    with Service({"one": folder}, Settings(body_seconds=0.2)) as service, half_a_body(service) as hanging:
        assert hanging.recv(100).startswith(b"HTTP/1.1 408 ")


def test_clients_that_send_no_request_are_hung_up_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Service({"one": folder}) as service, service.connect() as second:
        second.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert second.recv(1000).startswith(b"HTTP/1.1 200 ")
        with monkeypatch.context() as impatient:
            impatient.setattr("zerotag.serve.server.HEAD_SECONDS", 0.3)
            second.sendall(b"GET /hea")
            with service.connect() as silent, service.connect() as slow:
                slow.sendall(b"POST /v1/label HT")
                for connection in (silent, slow, second):
                    received(connection)
        assert service.label(["a"]).status == 200


def received(connection: socket.socket) -> int:
    """How many bytes come before the service hangs up."""
    count = 0
    with suppress(ConnectionResetError):
        while some := connection.recv(2**16):
            count += len(some)
    return count


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: localhost", 200),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nhost: localhost", 400),
        (b"GET /healthz HTTP/1.1", 400),
        (b"GET /healthz HTTP/1.0\r\nHost: localhost", 200),
        (b"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost", 400),
        (b"GET //localhost/healthz HTTP/1.1\r\nHost: localhost", 404),
        (b"OPTIONS * HTTP/1.1\r\nHost: localhost", 400),
        (b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000, 431),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost" + b"\r\nX: x" * 101, 431),
        (b"GET /healthz?" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: localhost", 431),
        (b"POST /v1/label HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", 400),
    ],
)
def test_ambiguous_and_oversized_heads_are_refused(folder: Path, head: bytes, status: int) -> None:
    with Service({"one": folder}) as service, service.connect() as connection:
        with suppress(ConnectionError):  # it may hang up before it has all
            connection.sendall(head + b"\r\n\r\n")
        reply = connection.recv(2000)
        assert int(reply.split()[1]) == status
        if status in (400, 431):
            assert b"connection: close" in reply
            assert json.loads(reply.partition(b"\r\n\r\n")[2])["error"]["code"] in ("bad_request", "too_large")


def test_a_refused_request_is_not_answered_in_place_of_another(folder: Path, gate: Gate) -> None:
    body = b'{"texts": ["a"]}'
    with Service({"one": folder}) as service, service.connect() as connection:
        connection.sendall(HEAD.replace(b"100", str(len(body)).encode()) + body)
        assert gate.reached.wait(60)
        connection.sendall(b"GET http://localhost/ HTTP/1.1\r\n\r\n")
        assert connection.recv(100) == b""


def test_a_request_head_without_end_is_not_read(folder: Path) -> None:
    with Service({"one": folder}) as service, service.connect() as endless:
        endless.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            endless.sendall(b"x" * 2**24)
        assert service.label(["a"]).status == 200


def test_a_refused_body_may_be_sent_to_its_end(folder: Path) -> None:
    with Service({"one": folder}) as service, service.connect() as honest:
        length = Settings().limits.body_bytes + 1
        honest.sendall(HEAD.replace(b"100", str(length).encode()))
        refusal = honest.recv(1000)
        while not refusal.endswith(b"}}"):  # the end of its reason
            refusal += honest.recv(1000)
        assert refusal.startswith(b"HTTP/1.1 413 ")
        honest.sendall(b"x" * length + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert honest.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_clients_that_do_not_read_are_hung_up_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServedModel, "label", lambda _, __, sentences: ['"' + 2**23 * "x" + '"'] * len(sentences))
    body = b'{"texts": ["a"]}'
    with Service({"one": folder}) as service, service.connect() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**14)
        with monkeypatch.context() as impatient:
            impatient.setattr("zerotag.serve.server.READING_SECONDS", 0.3)
            deaf.sendall(HEAD.replace(b"100", str(len(body)).encode()) + body)
            assert deaf.recv(1) == b"H"  # the answer has begun
            until(lambda: not service.server.server_state.connections)
        assert received(deaf) < 2**23
        assert len(service.label(["a"]).json["results"][0]) == 2**23  # those who read get all of it


def test_a_slow_answer_is_not_mistaken_for_a_slow_request(
    folder: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zerotag.serve.server.HEAD_SECONDS", 5.0)  # the request itself may be held up, too
    with Service({"one": folder}, Settings(body_seconds=5.0)) as service:
        reply = ThreadPoolExecutor(1).submit(service.label, ["a"])
        assert gate.reached.wait(60)
        time.sleep(5.5)
        gate.open.set()
        assert reply.result().status == 200


def test_rubbish_is_refused(folder: Path) -> None:
    with Service({"one": folder}) as service:
        for rubbish in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 5000):
            with service.connect() as connection:
                connection.sendall(rubbish)
                assert connection.recv(100)[:13] in (b"", b"HTTP/1.1 400 ")
        assert service.label(["a"]).status == 200


def test_slow_methods_do_not_hold_up_the_models_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    under_way, going_on = threading.Event(), threading.Event()
    priorities: set[int] = set()
    original = OcclusionScorer.score

    def slow(self: OcclusionScorer, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        under_way.set()
        assert going_on.wait(30)
        priorities.add(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return original(self, sentences)

    monkeypatch.setattr(OcclusionScorer, "score", slow)
    with Service({"one": folder}, Settings(explain_queue=2)) as service, ThreadPoolExecutor(8) as clients:

        def explain(_: int) -> Reply:
            return service.label(["the pump may fail"], method="occlusion")

        explained = [clients.submit(explain, 0)]
        assert under_way.wait(30)
        explained += [clients.submit(explain, number) for number in range(5)]
        until(lambda: sum(reply.done() for reply in explained) == 3)
        assert service.label(["a"]).status == 200
        going_on.set()
        assert Counter(reply.result().status for reply in explained) == {200: 3, 429: 3}
    if sys.platform == "linux":
        assert priorities == {min(19, os.getpriority(os.PRIO_PROCESS, 0) + 15)}  # a higher number goes second


def test_shutting_down_finishes_what_was_accepted(folder: Path, gate: Gate) -> None:
    with Service({"one": folder}, Settings(workers=1)) as service, ThreadPoolExecutor(4) as clients:
        accepted = [clients.submit(service.label, ["a"])]
        assert gate.reached.wait(60)
        accepted += [clients.submit(service.label, ["a"]) for _ in range(3)]
        until(lambda: service.metric(WAITING) == 3 * 3)  # of three sub-words each, with those at both ends
        service.server.should_exit = True
        time.sleep(0.3)
        gate.open.set()
        assert [reply.result().status for reply in accepted] == [200] * 4
