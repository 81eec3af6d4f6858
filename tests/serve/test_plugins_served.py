"""A scorer that another package adds appears in the service and on the page, neither of which knows it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import plugin_package
import tiny
from browser import marked, opened, write
from services import Service
from zerotag import registry

TEXT = "The PUMP may FAIL in winter"


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.syspath_prepend(plugin_package.install(tmp_path / "site"))
    registry.plugins.cache_clear()
    tiny.labeller().save_pretrained(tmp_path / "model")
    with Service({"hedges": tmp_path / "model"}) as running:
        yield running
    registry.plugins.cache_clear()
    sys.modules.pop("loud", None)


def test_the_service_offers_it(service: Service) -> None:
    (model,) = service.get("/v1/models").json["models"]
    assert "loudness" in model["methods"]
    assert "broken" not in model["methods"]
    (result,) = service.label([TEXT], method="loudness").json["results"]
    assert [word["score"] > 0.5 for word in result["words"]] == [False, True, False, True, False, False]


def test_the_page_offers_it(service: Service, browser: Browser) -> None:
    with opened(browser, service.url) as page:
        write(page, TEXT)
        page.select_option("#method", "loudness")
        expect(page.locator("#sentences .word.yes").first).to_have_text("PUMP")
        assert marked(page) == ["PUMP", "FAIL"]
