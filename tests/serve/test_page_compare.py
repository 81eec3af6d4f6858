"""Methods and models side by side: a row for each, a column for each word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browser import HEDGES, expect_marked, opened, settled, write
from services import Service, until

TEXT = "The pump may fail under load in winter, at night and after rain, and perhaps the valve leaks.\nA report holds."


@pytest.fixture
def compared(page: Page) -> Page:
    """Three rows: two methods of a model, and another model."""
    write(page, TEXT)
    page.click("#compare-open")
    page.get_by_label("hedges, occlusion", exact=True).check()
    page.get_by_label("three, model scores", exact=True).check()
    page.keyboard.press("Escape")
    settled(page)
    return page


def answers(service: Service, model: str, method: str) -> list[dict[str, Any]]:
    return service.label(TEXT.split("\n"), model=model, method=method).json["results"]  # type: ignore[no-any-return]


def test_a_row_per_reading_and_a_column_per_word(compared: Page, page_service: Service) -> None:
    first = compared.locator("#sentences > li").first
    words = [word["text"] for word in answers(page_service, "hedges", "native")[0]["words"]]
    assert first.locator("thead .word").all_text_contents() == words
    names = first.locator("table").first.locator("tbody th .name").all_text_contents()
    assert names == ["hedges, model scores", "hedges, occlusion", "three, model scores"]
    for row, method in enumerate(("native", "occlusion")):
        cells = first.locator(f".cell[data-reading='{row}']")
        scores = [word["score"] for word in answers(page_service, "hedges", method)[0]["words"]]
        assert [float(text.split(",")[0]) for text in cells.all_text_contents()] == pytest.approx(scores, abs=0.0051)
        shades = cells.evaluate_all("all => all.map(cell => Number(cell.style.getPropertyValue('--strength')))")
        assert max(shades) == shades[words.index("may")]
        assert min(shades) >= 0
        assert max(shades) <= 1
        marks = cells.evaluate_all("all => all.map(cell => cell.classList.contains('yes'))")
        assert marks == (
            [score >= HEDGES.word_threshold for score in scores] if method == "native" else [False] * len(words)
        )


def test_columns_fit_the_page(compared: Page) -> None:
    assert compared.locator("#sentences > li").first.locator("table").count() > 1
    wide = "() => [...document.querySelectorAll('.heat table')].some(t => t.getBoundingClientRect().right > innerWidth)"
    assert not compared.evaluate(wide)
    for width in (700, 360):
        compared.set_viewport_size({"width": width, "height": 900})
        until(lambda: not compared.evaluate(wide))


def test_the_cell_says_its_score(compared: Page, page_service: Service) -> None:
    compared.hover(".cell[data-reading='1'][data-word='2'] >> nth=0")
    score = answers(page_service, "hedges", "occlusion")[0]["words"][2]["score"]
    expect(compared.locator("#tip")).to_contain_text("may · hedges, occlusion")
    expect(compared.locator("#tip")).to_contain_text(f"{score:.3f} hedge")


def test_words_are_corrected_in_their_column_heads(compared: Page) -> None:
    head = compared.locator("thead .word", has_text="valve")
    head.click()
    expect_marked(head)
    expect(compared.locator("#corrections-count")).to_have_text("1 correction in 1 sentence")


def test_downloads_have_every_row(compared: Page, page_service: Service, browser: Browser, tmp_path: Path) -> None:
    def downloaded(kind: str) -> Path:
        compared.select_option("#format", kind)
        with compared.expect_download() as download:
            compared.click("#download")
        download.value.save_as(tmp_path / f"result.{kind}")
        return tmp_path / f"result.{kind}"

    lines = [json.loads(line) for line in downloaded("jsonl").read_text().splitlines()]
    expected = [
        {"model": model, "method": method, **answers(page_service, model, method)[number]}
        for number in range(2)
        for model, method in (("hedges", "native"), ("hedges", "occlusion"), ("three", "native"))
    ]
    assert lines == expected
    first_row = downloaded("tsv").read_text().splitlines()[0].split("\t")
    assert len(first_row) == 1 + 1 + 1 + 3 + 1  # word, one label, one label, three labels, decision
    with opened(browser, downloaded("html").as_uri()) as report:
        expect(report.locator("#sentences > li, .sentences > li")).to_have_count(2)
        rows = report.locator("li").first.locator("table").first.locator("tbody tr")
        assert rows.locator("th .name").all_text_contents() == [
            "hedges, model scores",
            "hedges, occlusion",
            "three, model scores",
        ]
        assert rows.first.locator("th .score").text_content() == "0.94"
        words = [word["text"] for word in answers(page_service, "hedges", "native")[0]["words"]]
        assert report.locator("li").first.locator("thead .word").all_text_contents() == words
        for row, method in enumerate(("native", "occlusion")):
            cells = report.locator(f"li:first-child tbody tr:nth-child({row + 1}) .cell").all_text_contents()
            scores = [word["score"] for word in answers(page_service, "hedges", method)[0]["words"]]
            assert [float(cell) for cell in cells] == pytest.approx(scores, abs=0.0051)
    assert downloaded("png").stat().st_size > 5000


def test_back_to_running_text(compared: Page) -> None:
    compared.click("#compare-open")
    for name in ("hedges, occlusion", "three, model scores"):
        compared.get_by_label(name, exact=True).uncheck()
    expect(compared.locator("#sentences .sentence")).to_have_count(2)
    assert compared.locator("#sentences table").count() == 0


def test_links_remember_the_rows(compared: Page) -> None:
    compared.click("#link")
    expect(compared.locator("#toast")).to_have_text("Link copied")
    compared.reload()
    expect(compared.locator("#sentences > li").first.locator("table").first.locator("tbody tr")).to_have_count(3)
    compared.click("#compare-open")
    expect(compared.get_by_label("three, model scores", exact=True)).to_be_checked()
