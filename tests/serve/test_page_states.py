"""When things go wrong, or take long: what the page says, and that it goes on by itself."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect

from browser import known_scores, opened, settled, write
from services import Service
from zerotag.serve.settings import Limits, Settings

TEXT = "The pump may fail."


def refusing(page: Page, status: int, code: str, message: str, **headers: str) -> list[int]:
    """Answers the next request for labels with an error; later ones get through. Counts them all."""
    seen: list[int] = []

    def answer(route: Route) -> None:
        seen.append(1)
        if len(seen) > 1:
            route.continue_()
        else:
            body = json.dumps({"error": {"code": code, "message": message}})
            route.fulfill(status=status, body=body, content_type="application/json", headers=headers)

    page.route("**/v1/label", answer)
    return seen


def test_nothing_yet(page: Page) -> None:
    expect(page.locator("#empty")).to_be_visible()
    expect(page.locator("#results")).to_be_hidden()
    expect(page.locator("#thresholds")).to_be_hidden()
    for _ in range(3):
        page.click("#example")
        settled(page)
    expect(page.locator("#empty")).to_be_hidden()
    page.click("#clear")
    expect(page.locator("#empty")).to_be_visible()


def test_a_busy_server_is_asked_again(page: Page) -> None:
    seen = refusing(page, 429, "busy", "too many requests are waiting", **{"Retry-After": "2"})
    page.fill("#text", TEXT)
    expect(page.locator("#notice")).to_contain_text("The server is busy")
    expect(page.locator("#notice")).to_contain_text("Trying again in 2 s.")
    expect(page.locator("#notice")).to_contain_text("Trying again in 1 s.")
    expect(page.locator("#sentences .word")).to_have_count(5)
    expect(page.locator("#notice")).to_be_hidden()
    assert len(seen) == 2


def test_one_need_not_wait(page: Page) -> None:
    refusing(page, 503, "ending", "the service is ending", **{"Retry-After": "600"})
    page.fill("#text", TEXT)
    expect(page.locator("#notice")).to_contain_text("The server is not ready")
    page.click("text=Try now")
    expect(page.locator("#sentences .word")).to_have_count(5)
    expect(page.locator("#notice")).to_be_hidden()


def test_a_server_that_has_gone(page: Page) -> None:
    page.route("**/v1/label", lambda route: route.abort())
    page.fill("#text", TEXT)
    expect(page.locator("#notice")).to_contain_text("The server cannot be reached")
    expect(page.locator("#sentences .text")).to_have_text(TEXT)  # it is not lost
    page.unroute("**/v1/label")
    page.click("text=Try now")
    expect(page.locator("#sentences .word")).to_have_count(5)


def test_an_error_of_the_server(page: Page) -> None:
    refusing(page, 500, "failed", "something went wrong here")
    page.fill("#text", TEXT)
    expect(page.locator("#notice")).to_contain_text("Something went wrong here.")
    page.click("text=Try again")
    settled(page)
    expect(page.locator("#notice")).to_be_hidden()


def test_no_models(page: Page) -> None:
    page.route("**/v1/models", lambda route: route.abort())
    page.reload()
    expect(page.locator("#notice")).to_contain_text("Is “zerotag serve” running?")
    page.unroute("**/v1/models")
    page.fill("#text", TEXT)
    page.click("text=Try again")
    expect(page.locator("#sentences .word")).to_have_count(5)


def test_what_is_too_long_is_named(model_folders: dict[str, Path], browser: Browser) -> None:
    limits = Limits(texts=3, characters=60, words=8, body_bytes=2000, explained_words=4)
    with known_scores(), Service(model_folders, Settings(limits=limits)) as small, opened(browser, small.url) as page:
        lines = [
            "The pump may fail.",
            "x" * 61,
            "a b c d e f g h i",
            *(f"Valve {number} may hold." for number in range(9)),
        ]
        write(page, "\n".join(lines))
        items = page.locator("#sentences > li")
        expect(items.nth(1)).to_contain_text(
            "Not labelled. 61 characters; the server takes 60 at once. Split this text."
        )
        expect(items.nth(2)).to_contain_text("Not labelled. A text has 9 words; at most 8.")
        expect(page.locator("#sentences .sentence .word").last).to_have_text(".")
        expect(page.locator("#summary")).to_contain_text("10 hedge")  # all others
        page.click("#compare-open")
        page.get_by_label("hedges, occlusion").check()
        expect(items.first.locator(".score").last).to_have_text("not available")
        expect(items.nth(3).locator("tbody th").last).to_contain_text("not available")


def test_the_key_is_asked_for(model_folders: dict[str, Path], browser: Browser) -> None:
    with (
        known_scores(),
        Service(model_folders, Settings(api_key="sesame")) as locked,
        opened(browser, locked.url) as page,
    ):
        expect(page.get_by_role("dialog")).to_contain_text("This server asks for a key")
        page.fill("#key", "wrong")
        page.keyboard.press("Enter")
        expect(page.locator("#key-wrong")).to_be_visible()
        page.fill("#key", "sesame")
        page.click("text=Go on")
        write(page, TEXT)
        page.reload()  # kept while the tab lives
        write(page, TEXT)


def test_long_work_shows_progress_and_stops(page: Page) -> None:
    allowed = threading.Semaphore(2)
    held: list[Route] = []

    def slowly(route: Route) -> None:
        if allowed.acquire(blocking=False):
            route.continue_()
        else:
            held.append(route)

    page.route("**/v1/label", slowly)
    page.fill("#text", "\n".join(f"Valve {number} may hold." for number in range(200)))
    expect(page.locator("#progress-text")).to_have_text("Labelling 72 of 200")
    expect(page.locator("#sentences > li").first.locator(".word").first).to_be_visible()  # while the rest is under way
    page.click("text=Stop")
    expect(page.locator("#progress-text")).to_have_text("Stopped at 72 of 200")
    allowed.release(10)
    page.click("text=Go on")
    expect(page.locator("#progress")).to_be_hidden()
    expect(page.locator("#summary")).to_contain_text("200 hedge")


def test_a_damaged_link(page: Page, page_service: Service) -> None:
    page.goto(f"{page_service.url}/#z=nonsense")
    page.reload()
    expect(page.locator("#notice")).to_contain_text("This link is damaged")


def test_nothing_is_asked_of_anybody_else(page: Page, page_service: Service) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    write(page, TEXT)
    assert len(asked) > 10
    assert [url for url in asked if not url.startswith(page_service.url)] == []
