"""Several replicas of the service behind a balancer: nothing depends on which of them answers, and one may leave."""

from __future__ import annotations

import itertools
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

import tiny
from service_processes import Running
from zerotag.serve.client import Client

WORDS = ("the", "pump", "may", "fail", "in", "winter")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "one"
    tiny.labeller().save_pretrained(folder)
    return folder


@contextmanager
def balanced(urls: Sequence[str]) -> Iterator[str]:
    """A round-robin balancer: who refuses a connection, or cuts it before an answer, is passed over."""
    turns = itertools.count()

    class Balancer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass_on(None)

        def do_POST(self) -> None:
            self._pass_on(self.rfile.read(int(self.headers["Content-Length"])))

        def _pass_on(self, body: bytes | None) -> None:
            first = next(turns)
            for number in range(len(urls)):
                with suppress(ConnectionError, HTTPException):
                    status, answer = self._asked(urls[(first + number) % len(urls)], body)
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                    return
            self.send_error(502)

        def _asked(self, url: str, body: bytes | None) -> tuple[int, bytes]:
            with closing(HTTPConnection(urlsplit(url).netloc, timeout=60)) as connection:
                connection.request(self.command, self.path, body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                return reply.status, reply.read()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Balancer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _sum(replicas: Sequence[Running], name: str) -> list[float]:
    """A metric of each replica, over its labels."""
    sums = []
    for replica in replicas:
        with urlopen(f"{replica.url}/metrics") as reply:
            found = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", reply.read().decode(), re.MULTILINE)
        sums.append(sum(map(float, found)))
    return sums


def test_one_of_two_leaves_while_requests_go_on(folder: Path) -> None:
    replicas = [Running(folder, "--no-workspace") for _ in range(2)]
    try:
        with balanced([one.url for one in replicas]) as url, ThreadPoolExecutor(4) as clients:
            client = Client(url)
            texts = [" ".join(WORDS[: 2 + number % 5]) for number in range(60)]

            def score(text: str) -> float:
                return client.label([text])[0].score

            expected = [*map(score, texts)]
            assert _sum(replicas, "zerotag_sentences_total") == [30, 30]
            assert _sum(replicas, 'zerotag_request_seconds_count{route="/v1/label"}') == [30, 30]
            assert len(set(expected)) == 5  # texts of five lengths: it does not matter who answers

            asked = [clients.submit(score, text) for text in texts * 3]
            asked[20].result(60)
            code, logged = replicas[0].end()
            assert [one.result(60) for one in asked] == pytest.approx(expected * 3, abs=1e-5)
            assert code in (0, -signal.SIGTERM)
            assert "Traceback" not in logged
            assert _sum(replicas[1:], "zerotag_sentences_total")[0] > 30 + 60  # the other one did the rest
    finally:
        for one in replicas:
            if one.process.poll() is None:
                one.end()
