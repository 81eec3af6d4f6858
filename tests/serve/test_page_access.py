"""The page for everybody: keyboard, screen readers, contrast, small screens, themes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import tiny
from browser import downloaded, expect_marked, marked, opened, settled, violations, write
from services import Service
from zerotag.io import read_gold
from zerotag.render.markup import STYLES

TEXT = "The pump may fail in winter.\nPerhaps the valve holds, perhaps it leaks.\nThe report works."
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


def compare(page: Page) -> None:
    write(page, TEXT)
    page.click("#compare-open")
    page.get_by_label("three, occlusion").check()
    expect(page.locator("#sentences table").first).to_be_visible()


def correct(page: Page) -> None:
    page.select_option("#model", "three")
    write(page, TEXT)
    page.get_by_role("radio", name="hedge").check(force=True)
    page.locator("#sentences .word", has_text="valve").click()
    page.locator("#sentences .word", has_text="may").click()
    page.get_by_role("radio", name="All").check(force=True)
    page.locator("#sentences .word", has_text="pump").click()
    expect(page.locator("#word-menu")).to_be_visible()


def fail(page: Page) -> None:
    page.route("**/v1/label", lambda route: route.abort())
    page.fill("#text", "The engine stops.")
    expect(page.locator("#notice")).to_be_visible()


def help_(page: Page) -> None:
    page.click("#help-open")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, page_service: Service, scheme: str) -> None:
    with opened(browser, page_service.url, color_scheme=scheme, reduced_motion="reduce") as page:
        expect(page.locator("#controls")).to_be_visible()
        for reach in (lambda _: None, help_, lambda page: write(page, TEXT), correct, compare, fail):
            reach(page)
            assert "\n".join(violations(page)) == ""
            page.keyboard.press("Escape")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_description(browser: Browser, page_service: Service, scheme: str) -> None:
    with opened(browser, f"{page_service.url}/docs", color_scheme=scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert "\n".join(violations(page)) == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_downloaded_files(
    browser: Browser, page_service: Service, scheme: str, tmp_path: Path
) -> None:
    with opened(browser, page_service.url) as page:
        for reach in (lambda page: write(page, TEXT), compare):
            reach(page)
            page.locator("#sentences .word", has_text="valve").click()
            page.select_option("#format", "html")
            file = downloaded(page, "#download", tmp_path)
            with opened(browser, file.as_uri(), color_scheme=scheme) as report:
                assert "\n".join(violations(report)) == ""


def test_everything_by_keyboard(page: Page) -> None:
    expect(page.locator("#controls")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(TEXT)
    expect(page.locator("#sentences .text")).to_have_text(TEXT.split("\n"))
    settled(page)
    reached = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
        if page.evaluate("document.activeElement.dataset.word") is not None:
            break
    assert {
        "example",
        "open",
        "clear",
        "model",
        "method",
        "compare-open",
        "threshold-0",
        "copy",
        "download",
        "link",
    } <= reached
    focused = page.locator(":focus")
    expect(focused).to_have_text("The")
    assert page.locator("#sentences [tabindex='0']").count() == 1  # one stop, however many words
    expect(page.locator("#tip")).to_contain_text("hedge")
    for key, word in [
        ("ArrowRight", "pump"), ("End", "."), ("ArrowRight", "Perhaps"), ("ArrowLeft", "."), ("Home", "The"),
        ("ArrowDown", "Perhaps"), ("ArrowDown", "The"), ("ArrowUp", "Perhaps"), ("ArrowUp", "The"),
    ]:  # fmt: skip
        page.keyboard.press(key)
        expect(focused).to_have_text(word)
    page.keyboard.press("n")
    expect_marked(focused)
    page.keyboard.press("Enter")
    expect_marked(focused, False)
    expect(page.locator("#corrections-count")).to_have_text("1 correction in 1 sentence")
    page.keyboard.press("u")
    expect_marked(focused)
    before = page.locator(".threshold output").inner_text()
    page.keyboard.press("]")
    expect(page.locator(".threshold output")).to_have_text("0.44")
    page.keyboard.press("\\")
    expect(page.locator(".threshold output")).to_have_text(before)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Keys")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_to_a_screen_reader_words_are_text(page: Page) -> None:
    write(page, "The pump may fail.")
    paragraph = page.locator("#sentences .text")
    assert paragraph.aria_snapshot() == "- paragraph:\n  - text: The\n  - mark: pump\n  - mark: may\n  - text: fail."
    paragraph.locator(".word", has_text="pump").click()
    expect(page.locator("#live")).to_have_text("pump: not hedge")
    paragraph.locator(".word", has_text="pump").click()
    expect(page.locator("#live")).to_have_text("pump: hedge")


def test_single_keys_can_be_switched_off(page: Page) -> None:
    page.click("#help-open")
    page.uncheck("#shortcuts-on")
    page.click("#help-close")
    page.reload()
    page.locator("body").press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_slider_by_keyboard(page: Page) -> None:
    write(page, TEXT)
    page.focus("#threshold-0")
    page.keyboard.press("Home")
    assert len(marked(page)) == page.locator("#sentences .word").count()
    page.keyboard.press("End")
    assert marked(page) == []
    assert page.get_attribute("#threshold-0", "aria-valuetext") == "1.00"


def test_a_phone(browser: Browser, page_service: Service) -> None:
    with opened(browser, page_service.url, **PHONE) as page:
        for reach in (lambda _: None, lambda page: write(page, TEXT + "\n" + "x" * 300), compare):
            reach(page)
            page.keyboard.press("Escape")
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert "\n".join(violations(page)) == ""


def test_labels_of_any_name_and_number(browser: Browser, tmp_path: Path) -> None:
    labels = (
        "<b>bold</b>",
        "a:b",
        "a label whose name is a whole sentence",
        "\u062a\u0631\u062f\u062f",
        "x" * 60,
        *"fghijkl",
    )
    tiny.labeller(labels=labels).save_pretrained(tmp_path / "many")
    with Service({"many": tmp_path / "many"}) as service, opened(browser, service.url, **PHONE) as page:
        page.fill("#text", TEXT)
        expect(page.locator("#summary")).to_contain_text("3 sentences · ")
        page.locator("#results").evaluate("one => one.scrollIntoView({behavior: 'instant'})")
        settled(page)  # so many labels take so much room that the sentences were out of sight
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.locator("#labels label").all_text_contents() == ["All", *labels]
        page.locator("#sentences .word").first.tap()
        page.locator("#sentences .word").first.tap()
        entries = page.locator("#word-menu button")
        assert entries.all_text_contents() == list(labels)
        edges = page.locator("#word-menu").bounding_box()
        assert edges is not None
        assert edges["y"] >= 0
        assert edges["y"] + edges["height"] <= 740
        before = entries.first.get_attribute("aria-checked") == "true"
        entries.first.tap()
        for button in ("#corrections-tsv", "#corrections-jsonl"):
            corpus = read_gold(downloaded(page, button, tmp_path), label_names=labels)
            given = corpus.examples[0].word_labels
            assert given is not None
            assert given[0][0] is not before


def test_a_tap_shows_and_a_second_corrects(browser: Browser, page_service: Service) -> None:
    with opened(browser, page_service.url, **PHONE) as page:
        write(page, TEXT)
        word = page.locator("#sentences .word", has_text="may")
        word.tap()
        expect(page.locator("#tip")).to_contain_text("0.875 hedge")
        expect_marked(word)
        word.tap()
        expect_marked(word, False)


def test_themes(page: Page) -> None:
    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = background()
    page.emulate_media(color_scheme="dark")
    dark = background()
    assert dark != light
    page.click("#theme-toggle")
    expect(page.locator("#theme-toggle")).to_have_text("Theme: light")
    assert background() == light
    page.keyboard.press("t")
    page.emulate_media(color_scheme="light")
    assert background() == dark
    page.reload()  # it is remembered
    expect(page.locator("#theme-toggle")).to_have_text("Theme: dark")
    assert background() == dark


def test_motion_is_optional(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    write(page, TEXT)
    assert page.evaluate("document.getAnimations().length") == 0
    assert page.locator("#results").evaluate("one => getComputedStyle(one).animationName") == "none"


def test_every_shade_can_be_read() -> None:
    """Ink on the fullest tint of each hue, and lines on tints, in both themes: WCAG AA's 4.5 and 3 to 1."""
    css = STYLES.joinpath("theme.css").read_text(encoding="utf-8")
    pairs = {
        name: values
        for name, *values in re.findall(r"--(ink|page|card|quiet|edge|tip|tip-ink): light-dark\(#(\w+), #(\w+)\)", css)
    }
    hues = re.findall(r"\.k\d \{ --tint: light-dark\(#(\w+), #(\w+)\); --line: light-dark\(#(\w+), #(\w+)\); \}", css)
    assert len(hues) == 8
    for theme in (0, 1):
        ink, page_colour, quiet, edge = (pairs[name][theme] for name in ("ink", "page", "quiet", "edge"))
        assert contrast(ink, pairs["card"][theme]) >= 4.5
        assert contrast(pairs["tip"][theme], pairs["tip-ink"][theme]) >= 4.5
        assert contrast(quiet, page_colour) >= 4.5
        assert contrast(edge, page_colour) >= 3
        for hue in hues:
            tint, line = hue[theme], hue[2 + theme]
            assert contrast(ink, tint) >= 4.5, tint
            assert contrast(line, tint) >= 4.5, tint
            assert contrast(line, page_colour) >= 4.5, line


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
