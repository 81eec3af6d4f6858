"""What a person said of words: in every download, in links, and not lost by accident."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from browser import downloaded, marked, opened, settled, write
from services import Service

TEXT = "The pump may fail in winter.\nThe valve holds."
LINE_COLOUR = [0x8A, 0x36, 0x00]  # of the first label, in the light


@pytest.fixture
def corrected(page: Page) -> Page:
    """A word added and one removed."""
    write(page, TEXT)
    page.locator("#sentences .word", has_text="valve").click()
    page.locator("#sentences .word", has_text="may").click()
    return page


def result(page: Page, kind: str, folder: Path) -> Path:
    page.select_option("#format", kind)
    return downloaded(page, "#download", folder)


def pixels(browser: Browser, picture: Path, colour: list[int]) -> int:
    """How many pixels of a picture have exactly this colour."""
    with opened(browser, "about:blank") as page:
        return int(
            page.evaluate(
                """async ([data, colour]) => {
                    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
                    const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
                    pen.drawImage(image, 0, 0);
                    const {data: all} = pen.getImageData(0, 0, image.width, image.height);
                    let count = 0;
                    for (let i = 0; i < all.length; i += 4) count += colour.every((one, c) => all[i + c] === one);
                    return count;
                }""",
                [base64.b64encode(picture.read_bytes()).decode(), colour],
            )
        )


def test_the_html_file_shows_them(corrected: Page, browser: Browser, tmp_path: Path) -> None:
    with opened(browser, result(corrected, "html", tmp_path).as_uri()) as report:
        expect(report.locator(".word.added")).to_have_text(["valve"])
        expect(report.locator(".word.removed")).to_have_text(["may"])
        assert report.locator("mark").all_text_contents() == marked(corrected)
        badge = report.locator(".added").evaluate("word => getComputedStyle(word, '::before').content")
        assert badge == '"+"'
        assert "corrected: yes" in (report.locator(".added").get_attribute("data-tip") or "")
        expect(report.locator(".note").last).to_have_text("2 corrections by hand, marked + and −.")


def test_the_picture_shows_them(page: Page, browser: Browser, tmp_path: Path) -> None:
    write(page, TEXT)
    before = pixels(browser, result(page, "png", tmp_path), LINE_COLOUR)
    page.locator("#sentences .word", has_text="may").click()  # its underline goes; a frame and a badge come
    assert pixels(browser, result(page, "png", tmp_path), LINE_COLOUR) > before
    page.click("#compare-open")
    page.get_by_label("hedges, occlusion", exact=True).check()
    page.keyboard.press("Escape")
    settled(page)
    compared = pixels(browser, result(page, "png", tmp_path), LINE_COLOUR)
    page.click("#undo")
    assert compared > pixels(browser, result(page, "png", tmp_path), LINE_COLOUR)


def test_json_lines_name_them_and_tables_follow_them(corrected: Page, tmp_path: Path) -> None:
    first, second = (json.loads(line) for line in result(corrected, "jsonl", tmp_path).read_text().splitlines())
    given = {word["text"]: (word["label"], word.get("corrected")) for word in first["words"] + second["words"]}
    assert (given["may"], given["valve"], given["pump"][1]) == ((None, ["hedge"]), ("hedge", ["hedge"]), None)
    rows = [row.split("\t") for row in result(corrected, "tsv", tmp_path).read_text().splitlines() if row]
    assert {row[0]: row[-1] for row in rows}["valve"] == "hedge"
    assert {row[0]: row[-1] for row in rows}["may"] == "O"


def test_they_are_no_part_of_what_is_compared(corrected: Page, page_service: Service, tmp_path: Path) -> None:
    corrected.click("#compare-open")
    corrected.get_by_label("hedges, occlusion", exact=True).check()
    corrected.keyboard.press("Escape")
    settled(corrected)
    lines = [json.loads(line) for line in result(corrected, "jsonl", tmp_path).read_text().splitlines()]
    theirs = page_service.label(TEXT.split("\n"), model="hedges", method="occlusion").json["results"]
    assert [line for line in lines if line["method"] == "occlusion"] == [
        {"model": "hedges", "method": "occlusion", **record} for record in theirs
    ]
    assert sum("corrected" in word for line in lines for word in line["words"]) == 2


def test_links_bring_them_back(corrected: Page, browser: Browser) -> None:
    corrected.click("#link")
    expect(corrected.locator("#toast")).to_have_text("Link copied")
    with opened(browser, corrected.url) as other:
        settled(other)
        assert marked(other) == marked(corrected)
        expect(other.locator(".added")).to_have_text(["valve"])
        expect(other.locator("#corrections-count")).to_have_text("2 corrections in 2 sentences")
        other.locator("#sentences .word", has_text="valve").click()
        assert "#" not in other.url  # the link no longer says what is shown


def test_leaving_asks_first_unless_they_are_saved(corrected: Page, tmp_path: Path) -> None:
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    corrected.on("dialog", leave)
    downloaded(corrected, "#corrections-tsv", tmp_path)
    corrected.reload()
    assert asked == []
    write(corrected, TEXT)
    corrected.locator("#sentences .word", has_text="valve").click()
    corrected.reload()
    assert asked == ["beforeunload"]
