"""When things go wrong, or take long: what the page says, and that it goes on by itself."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect

import tiny
from browser import known_scores, opened, settled, write
from services import Service, until
from zerotag.serve.settings import Limits, Settings
from zerotag.types import Rule

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
    page.evaluate(
        """() => {
            const notice = document.getElementById("notice");
            window.notices = [];
            const listener = new MutationObserver(() => window.notices.push(notice.textContent));
            listener.observe(notice, {childList: true, subtree: true, characterData: true});
        }"""
    )
    page.fill("#text", TEXT)
    expect(page.locator("#sentences .word")).to_have_count(5)
    expect(page.locator("#notice")).to_be_hidden()
    notices = page.evaluate("window.notices")
    assert "The server is busy" in notices[0]
    for seconds in (2, 1):
        assert any(f"Trying again in {seconds} s." in notice for notice in notices), seconds
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
    expect(page.locator("#notice")).to_contain_text("Couldn’t reach the server")
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
        expect(page.locator("#summary")).to_contain_text("10 of 12 sentences hedge")  # all others
        expect(page.locator("#summary")).to_contain_text("2 not labelled")
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
        page.keyboard.press("Escape")  # and it is not the end
        expect(page.locator("#notice")).to_contain_text("Without it nothing can be labelled.")
        page.click("text=Enter the key")
        expect(page.locator("#notice")).to_be_hidden()
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
    with page.expect_download():
        page.click("#download")
    expect(page.locator("#toast")).to_have_text("Downloaded (72 of 200 sentences: the others have no result)")
    allowed.release(10)
    page.click("text=Go on")
    expect(page.locator("#progress")).to_be_hidden()
    expect(page.locator("#summary")).to_contain_text("200 of 200 sentences hedge")


def test_a_model_that_is_replaced_while_the_page_is_open(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    tiny.labeller().save_pretrained(folder)
    settings = Settings(watch_seconds=0.05)
    with known_scores(), Service({"one": folder}, settings) as service, opened(browser, service.url) as page:
        write(page, TEXT)
        expect(page.locator(".threshold .note")).to_have_text("▾ fixed at 0.50")
        rule = Rule(word_threshold=0.25, origin="sentence labels")
        tiny.labeller(labels=("fault",)).with_rules([rule]).save_pretrained(folder)
        until(lambda: service.get("/v1/models").json["models"][0]["labels"] == ["fault"])
        write(page, TEXT + "\nThe engine stops.")
        expect(page.locator("#toast")).to_contain_text("The model was replaced")
        expect(page.locator(".threshold .note")).to_have_text("▾ calibrated at 0.25 (sentence labels)")
        expect(page.locator("#sentences .verdict b")).to_have_text(["fault", "fault"])
        page.locator("#sentences .word", has_text="pump").hover()
        expect(page.locator("#tip")).to_contain_text("fault")


def test_a_link_followed_before_the_models_are_there(page: Page, page_service: Service) -> None:
    write(page, TEXT)
    page.click("#link")
    expect(page.locator("#toast")).to_have_text("Link copied")
    link = page.url
    held: list[Route] = []
    page.route("**/v1/models", lambda route: held.append(route))
    with page.expect_request("**/v1/models"):
        page.goto(page_service.url)
    page.evaluate("link => location.assign(link)", link)
    held[0].continue_()
    settled(page)
    assert page.input_value("#text") == TEXT


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
