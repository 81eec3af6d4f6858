"""Pictures of the page for the README: `python benchmarks/page_screenshots.py MODEL_DIR OUT_DIR`."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from zerotag.serve.app import create_app
from zerotag.serve.server import address_of, listen, make_server

WIDTH = 1080
DENSITY = 1.25


def main(model: Path, out: Path) -> None:
    with serving(model) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = opened(browser, url, "light", height=1360)
        page.locator("#sentences .word", has_text="likely").hover()
        page.screenshot(path=out / "page-light.png")
        page = opened(browser, url, "dark", height=980)
        compare(page)
        page.screenshot(path=out / "page-dark.png")
        browser.close()


@contextmanager
def serving(model: Path) -> Iterator[str]:
    """The address of a service for the model."""
    socket = listen("127.0.0.1", 0)
    server = make_server(create_app({"hedges": model}))
    thread = threading.Thread(target=server.run, args=([socket],))
    thread.start()
    try:
        yield address_of(socket)
    finally:
        server.should_exit = True
        thread.join()


def opened(browser: Browser, url: str, scheme: Literal["light", "dark"], *, height: int) -> Page:
    """The page with the first example on it."""
    page = browser.new_page(
        viewport={"width": WIDTH, "height": height},
        device_scale_factor=DENSITY,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page.goto(url)
    page.locator("#controls:not([hidden])").wait_for()
    page.click("#example")
    settle(page)
    return page


def compare(page: Page) -> None:
    """Three more methods, and the page scrolled to where they are."""
    page.click("#compare-open")
    for method in ("occlusion", "integrated gradients", "LIME"):
        page.get_by_label(method, exact=True).check()
    page.keyboard.press("Escape")
    settle(page)
    page.mouse.move(0, 0)
    page.evaluate(
        "() => { document.activeElement.blur(); scrollTo(0, document.querySelector('#controls').offsetTop - 24); }"
    )


def settle(page: Page) -> None:
    page.locator("#sentences[aria-busy=false]").wait_for(timeout=300_000)
    page.wait_for_timeout(500)  # the distribution of scores is drawn a little later


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
