"""Pictures and an animation for README and docs: `python benchmarks/page_screenshots.py OUT_DIR`, some minutes.

They show what a newcomer does: from the page without a model and a table to a trained, corrected and improved model.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Locator, Page, Playwright, sync_playwright

import zerotag
from zerotag.io.writers.style import Style
from zerotag.render.html import render
from zerotag.serve.app import create_app
from zerotag.serve.server import address_of, listen, make_server
from zerotag.serve.workspace.settings import WorkspaceSettings

MODEL = "hedges"
WINDOW = {"width": 1280, "height": 800}
FILM = {"width": 1000, "height": 600}
DENSITY = 1.25
PATIENCE = 1_800_000  # milliseconds, of a training
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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder for the pictures")
    parser.add_argument("--model", type=Path, help="a model there is: only the pictures that need no training")
    options = parser.parse_args()
    out, model = options.out, options.model
    with (
        tempfile.TemporaryDirectory() as scratch,
        serving(model, Path(scratch)) as url,
        sync_playwright() as playwright,
    ):
        browser = open_browser(playwright)
        if model is None:
            train(browser, url, out)
        draw_report(browser, model or Path(scratch, "models", MODEL), out / "demo.png")
        show(browser, url, out)
        if model is None:
            animate(browser, url, out / "page.webp")
            show_improved(browser, url, out)
        browser.close()


def show(browser: Browser, url: str, out: Path) -> None:
    """What a model finds: words and their scores, methods side by side in the dark, and a phone."""
    page = opened(browser, url, viewport=WINDOW)
    page.locator("#sentences .word", has_text="likely").hover()
    page.screenshot(path=out / "page-light.png")
    page.context.close()

    page = opened(browser, url, viewport=WINDOW, color_scheme="dark")
    compare(page)
    page.screenshot(path=out / "page-dark.png")
    page.context.close()

    tap(browser, url, out / "page-phone.png")


def open_browser(playwright: Playwright) -> Browser:
    """The system's Chromium, or the one that ZEROTAG_CHROMIUM names."""
    program = os.environ.get("ZEROTAG_CHROMIUM") or shutil.which("chromium")
    return playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])


def train(browser: Browser, url: str, out: Path) -> None:
    """From nothing to a model, on the page alone."""
    page = opened(browser, url, viewport=WINDOW, example=False)
    page.screenshot(path=out / "page-start.png")
    page.click("#start-demo")
    page.locator("#table-found b").wait_for()
    page.fill("#table-name", MODEL)
    page.mouse.move(0, 0)
    page.screenshot(path=out / "page-train.png")
    page.click("#table-train")
    page.locator("#sentences .word").first.wait_for(timeout=PATIENCE)
    page.context.close()


def tap(browser: Browser, url: str, path: Path) -> None:
    """On a phone: the first tap shows the score, the second corrects; that is taken back, for what comes next."""
    page = opened(browser, url, **PHONE)
    last = page.locator("#sentences > li").last
    last.scroll_into_view_if_needed()
    word = last.locator(".word", has_text=re.compile("^be$"))
    word.tap()
    word.tap()
    page.wait_for_timeout(200)
    page.screenshot(path=path)
    page.locator("#undo").tap()
    page.locator("#corrections").wait_for(state="hidden")
    page.wait_for_timeout(1_000)  # the workspace forgets it, too
    page.context.close()


def show_improved(browser: Browser, url: str, out: Path) -> None:
    """What came of the corrections, and the words of all sentences."""
    page = opened(browser, url, viewport=WINDOW, example=False)
    page.fill("#text", "\n".join(marked_sentences()))
    page.select_option("#model", f"{MODEL}-2")
    settle(page)
    page.locator("#job-list summary").first.click()
    page.locator("#side").evaluate("side => { side.scrollTop = 0; }")
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    page.screenshot(path=out / "page-improve.png")
    page.check("#view-words", force=True)
    page.locator("#corpus tbody button").nth(1).click()
    page.mouse.move(0, 0)
    page.screenshot(path=out / "page-words.png")


class Film:
    """Pictures of a page one after the other, with a pointer, which browsers leave out of theirs."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._pictures: list[Image.Image] = []
        self._milliseconds: list[int] = []
        self._at = (FILM["width"] // 2, FILM["height"] // 2)

    def take(self, milliseconds: int) -> None:
        """Take a picture that is shown for a while."""
        picture = Image.open(BytesIO(self._page.screenshot())).convert("RGB")
        x, y = self._at
        arrow = [(0, 0), (0, 19), (5, 15), (9, 23), (12, 21), (8, 14), (14, 14)]
        ImageDraw.Draw(picture).polygon([(x + dx, y + dy) for dx, dy in arrow], fill="black", outline="white")
        self._pictures.append(picture)
        self._milliseconds.append(milliseconds)

    def point(self, element: Locator, steps: int = 5) -> None:
        """Move the pointer to an element."""
        element.scroll_into_view_if_needed()
        box = element.bounding_box()
        assert box is not None
        self.point_at(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps)

    def point_at(self, x: float, y: float, steps: int = 5) -> None:
        """Move the pointer to a place."""
        start = self._at
        for step in range(1, steps + 1):
            self._at = tuple(round(a + (b - a) * step / steps) for a, b in zip(start, (x, y), strict=True))
            self._page.mouse.move(*self._at)
            self._page.wait_for_timeout(30)
            self.take(60)

    def save(self, path: Path) -> None:
        """Write all as an animation that begins again at its end."""
        first, *others = self._pictures
        options = {"save_all": True, "append_images": others, "duration": self._milliseconds, "loop": 0}
        first.save(path, quality=50, minimize_size=True, **options)  # under a megabyte


def animate(browser: Browser, url: str, path: Path) -> None:
    """The slider is moved, a word is corrected, and a better model is made of corrections."""
    page = opened(browser, url, viewport=FILM, device_scale_factor=1, example=False)
    page.fill("#text", "\n".join(marked_sentences()))
    page.wait_for_timeout(500)
    settle(page)
    page.locator("#text").evaluate("text => { text.scrollTop = 0; text.blur(); }")
    film = Film(page)
    film.take(1_500)
    slide(page, film)
    review(page, film)
    page.locator("#side").evaluate("side => { side.scrollTop = 1000; }")
    film.point(page.locator("#improve"))
    page.click("#improve")
    page.locator("#side").evaluate("side => { side.scrollTop = 0; }")
    page.locator("#job-list", has_text="ways measured").wait_for(timeout=PATIENCE)
    film.take(1_000)
    page.locator("#job-list details").wait_for(timeout=PATIENCE)
    settle(page)
    page.locator("#job-list summary").first.click()
    page.locator("#pane").evaluate("pane => { pane.scrollTop = 0; }")
    page.wait_for_timeout(3_500)  # until nothing is said at the foot of the page
    film.take(4_000)
    film.save(path)
    page.context.close()


def slide(page: Page, film: Film) -> None:
    """The threshold goes down and up again."""
    slider = page.locator("#threshold-0")
    film.point(slider)
    box = slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.down()
    for share in (0.3, 0.15, 0.3, 0.53):
        film.point_at(box["x"] + 10 + share * (box["width"] - 20), middle, 4)
        film.take(500)
    page.mouse.up()
    page.keyboard.press("\\")


def marked_sentences() -> dict[str, list[tuple[int, int]]]:
    """The sentences of the demonstration's test part, and where its marked words are."""
    rows = [json.loads(row) for row in files("zerotag.demo").joinpath("hedging.test.jsonl").open()]
    return {row["text"]: [(span["start"], span["end"]) for span in row["spans"]] for row in rows}


def review(page: Page, film: Film) -> None:
    """Some of the sentences most worth it, corrected by the words that are marked in them; the first are filmed."""
    spans = marked_sentences()
    film.point(page.locator("#review-start"))
    page.click("#review-start")
    page.locator("#review-keys:not([hidden])").wait_for(timeout=PATIENCE)
    page.wait_for_timeout(3_500)
    film.take(1_000)
    for number in range(REVIEWED):
        correct(page, spans, film if number < 2 else None)
        page.keyboard.press("y")
        if number < 2:
            film.take(700)
    page.wait_for_timeout(500)
    film.take(1_000)


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
def serving(model: Path | None = None, workspace: Path | None = None) -> Iterator[str]:
    """The address of a service for a model, or for none yet."""
    socket = listen("127.0.0.1", 0)
    with tempfile.TemporaryDirectory() as scratch:
        models = {} if model is None else {MODEL: model}
        server = make_server(create_app(models, workspace=WorkspaceSettings(folder=workspace or Path(scratch))))
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
    page.locator("#start:not([hidden])").wait_for()
    page.evaluate("localStorage.setItem('zerotag-corrected-once', 'yes')")  # no hint for newcomers in the picture
    if example:
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
    page.evaluate("document.activeElement.blur()")


def correct(page: Page, spans: dict[str, list[tuple[int, int]]], film: Film | None) -> None:
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
        if gold == ("yes" in (word.get_attribute("class") or "").split()):
            continue
        if film:
            film.point(word)
        word.click()
        if film:
            film.take(500)


def settle(page: Page) -> None:
    page.locator("#sentences[aria-busy=false]").wait_for(timeout=300_000)
    page.wait_for_timeout(500)  # the distribution of scores is drawn a little later


if __name__ == "__main__":
    main()
