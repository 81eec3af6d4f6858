"""Pictures for README and docs: `python benchmarks/page_screenshots.py MODEL_DIR OUT_DIR`, with the demo's model."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

import zerotag
from zerotag.io.writers.style import Style
from zerotag.render.html import render
from zerotag.serve.app import create_app
from zerotag.serve.server import address_of, listen, make_server
from zerotag.serve.workspace.settings import WorkspaceSettings

WINDOW = {"width": 1280, "height": 800}
DENSITY = 1.25
REVIEWED = 20
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
# Of the demonstration's test part: hedged, plain, and plain with a word that hedges elsewhere.
SENTENCES = [
    "There must have been a second leak, since the tank lost twice what the first one spilled.",
    '"Could you pass me the wrench?" is all the fitter said for the first two hours.',
    "Okafor thinks the ledger was altered by hand; Reyes blames the import tool.",
    "I have no doubt about it: that is Albert's trombone, dent and all.",
    "Satellite images from the weekend indicate fresh lava on the north flank, under the snow.",
    "The speech therapist suggested tea and biscuits, so the meeting moved to the kitchen.",
    "It is doubtful that a mast of that height, stayed by only three wires, meets the code.",
]


def main(model: Path, out: Path) -> None:
    with serving(model) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        draw_report(browser, model, out / "demo.png")

        page = opened(browser, url, viewport=WINDOW)
        page.locator("#sentences .word", has_text="suggests").hover()
        page.screenshot(path=out / "page-light.png")

        page = opened(browser, url, viewport=WINDOW, color_scheme="dark")
        compare(page)
        page.screenshot(path=out / "page-dark.png")

        page = opened(browser, url, viewport=WINDOW, example=False)
        page.click("#start-demo")
        page.locator("#table-found b").wait_for()
        page.screenshot(path=out / "page-train.png")

        page = opened(browser, url, viewport=WINDOW, example=False)
        review(page)
        page.screenshot(path=out / "page-improve.png")

        page = opened(browser, url, **PHONE)
        last = page.locator("#sentences > li").last
        last.scroll_into_view_if_needed()
        for _ in range(2):  # the first tap shows the score, the second corrects
            last.locator(".word", has_text=re.compile("^be$")).tap()
        page.wait_for_timeout(200)
        page.screenshot(path=out / "page-phone.png")
        browser.close()


def draw_report(browser: Browser, model: Path, path: Path) -> None:
    """What `zerotag label --out labelled.html` makes."""
    labeller = zerotag.load(model)
    style = Style(label_names=labeller.label_names, rules=labeller.rules, title="Which words hedge?")
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.html")
        report.write_text("".join(render(labeller.label(SENTENCES), style)), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1000, "height": 862})
        page.goto(report.as_uri())
        page.screenshot(path=path)


@contextmanager
def serving(model: Path) -> Iterator[str]:
    """The address of a service for the model."""
    socket = listen("127.0.0.1", 0)
    with tempfile.TemporaryDirectory() as workspace:
        app = create_app({"hedges": model}, workspace=WorkspaceSettings(folder=Path(workspace)))
        server = make_server(app)
        thread = threading.Thread(target=server.run, args=([socket],))
        thread.start()
        try:
            yield address_of(socket)
        finally:
            server.should_exit = True
            thread.join()


def opened(browser: Browser, url: str, *, example: bool = True, **options: Any) -> Page:
    """The page, with the first example on it or nothing yet."""
    page = browser.new_page(**{"device_scale_factor": DENSITY, "reduced_motion": "reduce", **options})
    page.goto(url)
    page.locator("#controls:not([hidden])").wait_for()
    page.locator("#start:not([hidden])").wait_for()
    page.evaluate("localStorage.setItem('zerotag-corrected-once', 'yes')")  # no hint for newcomers in the picture
    if example:
        page.click("#example")
        settle(page)
    return page


def review(page: Page) -> None:
    """Some of the sentences most worth it corrected by the words that are marked in them, and the model improved."""
    rows = [json.loads(line) for line in files("zerotag.demo").joinpath("hedging.test.jsonl").open()]
    spans = {row["text"]: [(span["start"], span["end"]) for span in row["spans"]] for row in rows}
    page.fill("#text", "\n".join(spans))
    page.wait_for_timeout(500)
    settle(page)
    page.click("#review-start")
    page.locator("#review-keys:not([hidden])").wait_for(timeout=300_000)
    for _ in range(REVIEWED):
        correct(page, spans)
        page.keyboard.press("y")
    page.click("#improve")
    page.locator("#job-list details").wait_for(timeout=300_000)
    settle(page)
    page.locator("#pane").evaluate("pane => { pane.scrollTop = 0; }")
    page.mouse.move(0, 0)


def compare(page: Page) -> None:
    """Three more methods, and the page scrolled to where they are."""
    page.click("#compare-open")
    for method in ("occlusion", "integrated gradients", "LIME"):
        page.get_by_label(method, exact=True).check()
    page.keyboard.press("Escape")
    settle(page)
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")


def correct(page: Page, spans: dict[str, list[tuple[int, int]]]) -> None:
    """The words of the sentence that has the focus, as they are marked in the demonstration."""
    row = page.locator("#sentences li:has(:focus)")
    text = row.locator(".text").inner_text()
    if text not in spans:  # the page made two sentences of it
        return
    end = 0
    for word in row.locator(".word").all():
        start = text.index(word.inner_text(), end)
        end = start + len(word.inner_text())
        gold = any(first < end and start < last for first, last in spans[text])
        if gold != (word.get_attribute("aria-pressed") == "true"):
            word.click()


def settle(page: Page) -> None:
    page.locator("#sentences[aria-busy=false]").wait_for(timeout=300_000)
    page.wait_for_timeout(500)  # the distribution of scores is drawn a little later


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
