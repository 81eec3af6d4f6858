"""`zerotag serve` as a command: what it prints, what it refuses, how it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest import mock
from urllib.request import urlopen

import pytest

import tiny
from commands import CommandLine
from service_processes import Running
from services import until
from zerotag.serve.client import Client


@pytest.fixture
def zerotag(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "one"
    tiny.labeller().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Running]:
    service = Running(folder, f"again={folder}")
    yield service
    if service.process.poll() is None:
        service.end()


def test_it_prints_where_it_is_and_ends_in_good_order_on_sigterm(running: Running) -> None:
    assert running.line.startswith("one, again: http://127.0.0.1:")
    client = Client(running.url)
    assert [model["name"] for model in client.models()] == ["one", "again"]
    labelled: list[int] = []
    texts = ["the pump may fail in winter"] * 1000
    asking = threading.Thread(target=lambda: labelled.append(len(client.label(texts, model="again"))))
    asking.start()
    until(lambda: not re.search(r'sentences_total{model="again",queue="native"} 0', _metrics(running.url)))
    code, logged = running.end()
    asking.join(30)
    assert labelled == [1000]
    assert code in (0, -signal.SIGTERM)
    assert "Traceback" not in logged
    assert "pump" not in logged


def test_control_c_is_how_it_ends(folder: Path) -> None:
    service = Running(folder)
    assert Client(service.url).models()
    code, logged = service.end(by=signal.SIGINT)
    assert code == 0
    assert "error" not in logged


def test_control_c_again_does_not_wait_for_a_request(folder: Path) -> None:
    service = Running(folder)
    address = ("127.0.0.1", int(service.url.rpartition(":")[2]))
    with socket.create_connection(address, timeout=60) as half:
        half.sendall(
            b"POST /v1/label HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Expect: 100-continue\r\nContent-Length: 100\r\n\r\n"
        )
        assert half.recv(100).startswith(b"HTTP/1.1 100 ")  # it is being read
        service.process.send_signal(signal.SIGINT)
        until(lambda: not _answers(address))  # and waited for
        code, logged = service.end(by=signal.SIGINT)
    assert (code, logged) == (0, "")


def _answers(address: tuple[str, int]) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(address) == 0


def _metrics(url: str) -> str:
    with urlopen(f"{url}/metrics") as reply:
        text: str = reply.read().decode()
    return text


def test_a_port_in_use(zerotag: CommandLine, folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = zerotag.fails("serve", folder, "--port", port)
    assert line == f"cannot listen on 127.0.0.1 port {port}: Address already in use; choose another --port"


def test_others_are_let_in_only_with_a_key(zerotag: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZEROTAG_API_KEY", raising=False)
    for host in ("0.0.0.0", "::"):
        line = zerotag.fails("serve", folder, "--host", host, "--port", 0)
        assert line.startswith(f"others can reach {host}: set an API key in ZEROTAG_API_KEY or --api-key-file")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "16 or more"),
        (b"short\n", "16 or more"),
        (b"with a space in the middle", "16 or more"),
        (b"\xff" * 20, "cannot"),
    ],
)
def test_keys_that_are_none(zerotag: CommandLine, folder: Path, tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)
    assert complaint in zerotag.fails("serve", folder, "--api-key-file", file)
    assert "No such file" in zerotag.fails("serve", folder, "--api-key-file", tmp_path / "missing")


def test_a_service_for_others(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("0123456789abcdef\n")
    service = Running(folder, "--host", "0.0.0.0", "--api-key-file", file)
    try:
        url = service.url.replace("0.0.0.0", "127.0.0.1")
        assert len(Client(url, api_key="0123456789abcdef").label(["the pump may fail"])[0].words) == 4
        with pytest.raises(Exception, match="send the API key"):
            Client(url).label(["the pump may fail"])
    finally:
        service.end()


@pytest.mark.parametrize(
    ("models", "complaint"),
    [
        (["missing"], "missing is not a folder"),
        (["a/one", "b/one"], "two models are called 'one'; write NAME=DIR"),
        (["=x"], "'' is no name for a model"),
        (["a b=x"], "'a b' is no name for a model"),
    ],
)
def test_models_that_cannot_be_served(zerotag: CommandLine, models: list[str], complaint: str) -> None:
    assert complaint in zerotag.fails("serve", *models, "--port", 0)


def test_a_host_that_is_none(zerotag: CommandLine, folder: Path) -> None:
    assert "'no.such.host.invalid'" in zerotag.fails("serve", folder, "--host", "no.such.host.invalid")


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "httptools", "prometheus_client"])
def test_without_the_extra_it_says_what_to_install(
    zerotag: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    line = zerotag.fails("serve", folder)
    assert line == f"the service needs {package}: pip install 'zerotag[serve]'"


def test_the_page_opens_on_demand(folder: Path, zerotag: CommandLine) -> None:
    with mock.patch("webbrowser.open") as opened, mock.patch("uvicorn.Server.run"):
        printed = zerotag.succeeds("serve", folder, "--port", 0, "--open")
        opened.assert_called_once_with(re.search(r"http://\S+", printed)[0])  # type: ignore[index]
        opened.reset_mock()
        zerotag.succeeds("serve", folder, "--port", 0)  # not in a terminal
        opened.assert_not_called()


def test_importing_the_client_is_quick() -> None:
    program = "import sys, zerotag.serve.client; print(sorted({'torch', 'fastapi', 'uvicorn'} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ)
    assert answer.stdout.strip() == "[]"
