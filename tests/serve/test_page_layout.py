"""The page as a picture: with the fonts people have, at every width, no word is broken and nothing overlaps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from browser import chromium, known_scores, opened, settled, violations, write
from services import Service
from zerotag.serve.workspace.settings import WorkspaceSettings

HERE = Path(__file__).parent
PROBLEMS = HERE.joinpath("layout_problems.js").read_text(encoding="utf-8")
SNAPSHOTS = HERE / "snapshots"
WIDTHS = {1440: 900, 1024: 768, 375: 740}
FONTS = {"DejaVu": Path("/usr/share/fonts/truetype/dejavu"), "Noto": Path("/usr/share/fonts/truetype/noto")}
SHRINK = 8  # a snapshot shows where things are, not each letter: versions of browsers draw these differently
LEVELS, SHARE = 40, 0.02  # of 255 that a pixel may differ, and of the pixels that may differ by more
FONT_CONFIG = """<?xml version="1.0"?>
<fontconfig>
<dir>{folder}</dir><dir>/usr/share/fonts/truetype/dejavu</dir><cachedir>{cache}</cachedir>
{aliases}
</fontconfig>"""
ALIAS = (
    '<match><test name="family"><string>{alias}</string></test>'
    '<edit name="family" mode="assign" binding="strong"><string>{family}</string></edit></match>'
)
TEXT = """The pump may fail in winter, so the engineers of the county have ordered a second one for the lake.
Perhaps the valve holds, perhaps it leaks.
قد يكون الجسر مغلقا غدا.
The report works."""


@pytest.fixture(scope="module", params=FONTS)
def fonts(request: pytest.FixtureRequest) -> str:
    if not FONTS[request.param].is_dir():
        pytest.skip(f"{FONTS[request.param]} is not installed")
    return str(request.param)


@pytest.fixture(scope="module")
def browser(fonts: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One that knows no other fonts."""
    program = chromium()
    if program is None:
        pytest.skip("no Chromium is installed")
    folder = tmp_path_factory.mktemp(fonts)
    families = {
        "system-ui": f"{fonts} Sans",
        "sans-serif": f"{fonts} Sans",
        "serif": f"{fonts} Serif",
        "Georgia": f"{fonts} Serif",
    }
    aliases = "\n".join(ALIAS.format(alias=alias, family=family) for alias, family in families.items())
    config = FONT_CONFIG.format(folder=FONTS[fonts], cache=folder / "cache", aliases=aliases)
    (folder / "fonts.conf").write_text(config, encoding="utf-8")
    with sync_playwright() as playwright:
        environment: dict[str, str | float | bool] = {**os.environ, "FONTCONFIG_FILE": str(folder / "fonts.conf")}
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], env=environment)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def service(model_folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    workspace = WorkspaceSettings(folder=tmp_path_factory.mktemp("workspace"))
    with known_scores(), Service(model_folders, workspace=workspace) as running:
        yield running


@pytest.fixture(scope="module")
def newcomers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service({}, workspace=WorkspaceSettings(folder=tmp_path_factory.mktemp("nothing"))) as running:
        yield running


def begin(page: Page) -> None:
    expect(page.locator("#start")).to_be_visible()


def choose_columns(page: Page) -> None:
    page.click("#start-demo")
    expect(page.locator("#table-found b")).to_be_visible()


def label(page: Page) -> None:
    write(page, TEXT)


def show_words(page: Page) -> None:
    page.check("#view-words", force=True)
    page.locator("#corpus tbody button").first.click()
    expect(page.locator("#corpus .concordance")).to_be_visible()


def compare(page: Page) -> None:
    page.check("#view-sentences", force=True)
    page.click("#compare-open")
    page.get_by_label("three, occlusion").check()
    page.get_by_label("hedges, occlusion").check()
    page.keyboard.press("Escape")
    settled_heat(page)


def settled_heat(page: Page) -> None:
    expect(page.locator("#sentences")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#sentences .cell.pending")).to_have_count(0)
    expect(page.locator("#sentences table").first).to_be_visible()


def review(page: Page) -> None:
    page.reload()
    settled(page)
    page.click("#compare-open")
    for name in ("three, occlusion", "hedges, occlusion"):
        page.get_by_label(name).uncheck()
    page.keyboard.press("Escape")
    page.click("#review-start")
    expect(page.locator("#sentences .word").first).to_be_focused()
    page.keyboard.press("y")
    page.locator("#sentences .word").nth(1).click()
    expect(page.locator("#corrections")).to_be_visible()


def look(page: Page, fonts: str, name: str) -> None:
    """Finds what is wrong at each width, also by axe, and compares what is seen with how it was."""
    page.evaluate("document.getElementById('toast').hidden = document.getElementById('tip').hidden = true")
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        if name == "compared":
            settled_heat(page)
        assert page.evaluate(PROBLEMS) == [], f"{name} at {width} pixels with {fonts}"
        if fonts == "DejaVu":
            assert "\n".join(violations(page)) == ""
            assert_as_it_was(page, f"{name}-{width}")


def assert_as_it_was(page: Page, name: str) -> None:
    """A snapshot that is not there is made: look at it before it is committed."""
    picture = Image.open(BytesIO(page.screenshot(caret="hide"))).convert("L")
    small = picture.resize((picture.width // SHRINK, picture.height // SHRINK), Image.Resampling.BOX)
    path = SNAPSHOTS / f"{name}.png"
    if not path.exists():
        small.save(path, optimize=True)
        pytest.fail(f"{path} was made; look at it")
    before, now = (np.asarray(one, dtype=int) for one in (Image.open(path), small))
    assert before.shape == now.shape
    differing = float((abs(before - now) > LEVELS).mean())
    assert differing <= SHARE, f"{name}: {100 * differing:.1f} % differ; if it is meant to, delete {path} and run again"


def test_nothing_is_broken_or_overlaps(browser: Browser, service: Service, fonts: str) -> None:
    states: dict[str, Callable[[Page], None]] = {
        "start": begin,
        "labelled": label,
        "words": show_words,
        "compared": compare,
        "reviewed": review,
    }
    with opened(browser, service.url, reduced_motion="reduce") as page:
        for name, reach in states.items():
            page.set_viewport_size({"width": 1440, "height": 900})
            reach(page)
            look(page, fonts, name)


def test_nor_for_newcomers(browser: Browser, newcomers: Service, fonts: str) -> None:
    with opened(browser, newcomers.url, reduced_motion="reduce") as page:
        for name, reach in {"nothing-yet": begin, "columns": choose_columns}.items():
            page.set_viewport_size({"width": 1440, "height": 900})
            reach(page)
            look(page, fonts, name)
