"""Who may use the service: those with the key, and nobody by a name that is not the service's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tiny
from services import JSON, Service
from zerotag.serve.settings import Settings

KEY = "a key of some length"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "one"
    tiny.labeller().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def locked(folder: Path) -> Iterator[Service]:
    with Service({"one": folder}, Settings(api_key=KEY, host_names=None)) as running:
        yield running


@pytest.mark.parametrize("path", ["/v1/models", "/metrics", "/v1/label", "/v1/anything"])
@pytest.mark.parametrize(
    "given", [None, "", "Bearer ", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", KEY, f"Basic {KEY}", "é"]
)
def test_without_the_key_nothing_is_given_away(locked: Service, path: str, given: str | None) -> None:
    headers = JSON if given is None else {**JSON, "Authorization": given}
    method = "POST" if path == "/v1/label" else "GET"
    reply = locked.ask(method, path, '{"texts": []}' if method == "POST" else None, headers)
    assert (reply.status, reply.code, reply.headers["WWW-Authenticate"]) == (401, "no_key", "Bearer")
    assert KEY not in reply.body.decode()


def test_with_the_key_all_is_there(locked: Service) -> None:
    headers = {**JSON, "Authorization": f"Bearer {KEY}"}
    assert locked.ask("GET", "/v1/models", headers=headers).status == 200
    assert locked.ask("GET", "/metrics", headers={"Authorization": f"bearer {KEY}"}).status == 200
    assert locked.ask("POST", "/v1/label", '{"texts": ["a"]}', headers).status == 200


def test_the_page_and_the_probes_need_no_key(locked: Service) -> None:
    for path in ("/", "/assets/icon.svg", "/healthz", "/readyz", "/docs", "/openapi.json"):
        assert locked.get(path).status == 200, path


def test_the_key_is_not_shown_by_accident() -> None:
    assert KEY not in repr(Settings(api_key=KEY))


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:1", "[::1]:8000"])
def test_loopback_goes_by_its_own_names(folder: Path, host: str) -> None:
    with Service({"one": folder}) as service:
        assert service.ask("GET", "/v1/models", headers={"Host": host}).status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "localhost:x"])
def test_no_web_page_can_point_its_own_name_at_it(folder: Path, host: str) -> None:
    with Service({"one": folder}) as service:
        for path in ("/", "/v1/models", "/healthz"):
            reply = service.ask("GET", path, headers={"Host": host})
            assert (reply.status, reply.code) == (421, "wrong_host")
