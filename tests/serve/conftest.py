"""The page in a real browser: one service and one Chromium for each test module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, sync_playwright

from browser import CHROMIUMS, chromium, known_scores, opened, save_models
from services import Service


@pytest.fixture(scope="session")
def model_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def page_service(model_folders: dict[str, Path]) -> Iterator[Service]:
    with known_scores(), Service(model_folders) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of a module, not of the session: while it runs, no other test can have an event loop."""
    program = chromium()
    if program is None:
        pytest.skip(f"none of {', '.join(CHROMIUMS)} is installed, and ZEROTAG_CHROMIUM names no other")
    with sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        except Error as error:
            pytest.skip(f"{program} does not start: {str(error).splitlines()[0]}")
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser, page_service: Service) -> Iterator[Page]:
    """The page, in a browser that has never seen it."""
    with opened(browser, page_service.url) as one:
        yield one
