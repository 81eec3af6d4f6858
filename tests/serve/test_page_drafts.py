"""Nothing typed is lost: by a reload, a crash, a second tab, or a tab that was closed."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from browser import marked, settled, write

TEXT = "The pump may fail in winter.\nThe valve holds."
KEPT = 700  # milliseconds after which a change is kept


def test_a_reload_brings_back_text_threshold_and_corrections(page: Page) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    write(page, TEXT)
    page.locator("#sentences .word", has_text="valve").click()
    page.locator("#threshold-0").fill("0.9")
    before = marked(page)
    page.wait_for_timeout(KEPT)
    page.reload()
    settled(page)
    expect(page.locator("#text")).to_have_value(TEXT)
    expect(page.locator("#threshold-0")).to_have_value("0.9")
    assert marked(page) == before == ["valve"]


def test_what_was_just_typed_survives_too(page: Page) -> None:
    page.locator("#text").press_sequentially("It may rain.")
    page.reload()
    settled(page)
    expect(page.locator("#text")).to_have_value("It may rain.")


def test_each_tab_has_its_own(page: Page) -> None:
    write(page, TEXT)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#lead")).to_contain_text("hedge")
    expect(other.locator("#last-text")).to_be_hidden()  # the tab that has it is open
    write(other, "It may rain.")
    other.wait_for_timeout(KEPT)
    for one, text in ((page, TEXT), (other, "It may rain.")):
        one.reload()
        settled(one)
        expect(one.locator("#text")).to_have_value(text)


def test_what_a_closed_tab_held_is_offered_until_it_is_cleared(page: Page) -> None:
    write(page, TEXT)
    page.wait_for_timeout(KEPT)
    url, context = page.url, page.context
    page.close()
    other = context.new_page()
    other.goto(url)
    other.click("#last-text")
    settled(other)
    expect(other.locator("#text")).to_have_value(TEXT)
    other.click("#clear")
    other.wait_for_timeout(KEPT)
    other.close()
    last = context.new_page()
    last.goto(url)
    expect(last.locator("#lead")).to_contain_text("hedge")
    last.wait_for_timeout(KEPT)
    expect(last.locator("#last-text")).to_be_hidden()
    expect(last.locator("#text")).to_have_value("")
