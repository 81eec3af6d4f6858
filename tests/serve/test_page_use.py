"""What people do on the page: type, slide, choose, correct, take away."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from browser import HEDGES, THREE, downloaded, marked, opened, settled, write
from services import Service
from zerotag.io import read, read_gold
from zerotag.io.writers.style import Style
from zerotag.render.html import render
from zerotag.serve.client import Client
from zerotag.types import Rule

TEXT = "The pump may fail in winter.\nThe valve holds."
LONG_WORDS = "May 😀 the na\u00efve ca\u0301fe’s engine hold?"


@pytest.fixture
def three(page: Page) -> Page:
    """The page with the model of three labels."""
    page.select_option("#model", "three")
    return page


def records(service: Service, text: str, model: str = "hedges", method: str = "native") -> list[dict[str, Any]]:
    return service.label(text.split("\n"), model=model, method=method).json["results"]  # type: ignore[no-any-return]


def by_rule(results: list[dict[str, Any]], rule: Rule) -> list[str]:
    """The words that a rule marks."""
    found = []
    for result in results:
        scores = np.array([word["score"] for word in result["words"]])
        yes = rule.words(scores)
        found += [word["text"] for word, positive in zip(result["words"], yes, strict=True) if positive]
    return found


def slide(page: Page, value: float, number: int = 0) -> None:
    """What dragging does."""
    page.locator(f"#threshold-{number}").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', {bubbles: true})); }", value
    )


def expect_mark(page: Page, share: float) -> None:
    """Waits for the mark to be at this share of the slider, whose ends follow the scores a moment later."""
    expect(page.locator(".track .mark")).to_have_attribute("style", f"--at: {share:.4f};")


def test_typing_labels_words(page: Page, page_service: Service) -> None:
    page.locator("#text").press_sequentially(TEXT, delay=2)
    expect(page.locator("#sentences .text")).to_have_text(TEXT.split("\n"))  # a slow machine may have paused before
    settled(page)
    assert marked(page) == by_rule(records(page_service, TEXT), HEDGES)
    assert "may" in marked(page)
    verdicts = page.locator("#sentences .verdict").all_text_contents()
    assert verdicts == ["hedge: yes, score 0.94, threshold 0.47", "hedge: no, score 0.13, threshold 0.47"]
    expect(page.locator("#summary")).to_contain_text("1 of 2 sentences hedge · ")
    expect(page.locator("#live")).to_contain_text("1 of 2 sentences hedge")


def test_only_new_sentences_are_sent(page: Page) -> None:
    sent: list[list[str]] = []
    page.on("request", lambda request: sent.append(json.loads(request.post_data or "{}").get("texts")))
    write(page, TEXT)
    write(page, TEXT + "\nA report works.")
    write(page, TEXT)
    assert [texts for texts in sent if texts] == [TEXT.split("\n"), ["A report works."]]


def test_words_are_shown_where_they_are(page: Page) -> None:
    write(page, LONG_WORDS)
    assert page.locator("#sentences .text").text_content() == LONG_WORDS
    assert page.locator("#sentences .word").all_text_contents() == [
        "May", "😀", "the", "na\u00efve", "ca\u0301fe’s", "engine", "hold", "?",
    ]  # fmt: skip


def test_text_is_text(page: Page) -> None:
    text = "<script>window.hacked = 1</script> may <img src=x onerror=\"window.hacked = 1\"> &amp; 'quotes'"
    write(page, text)
    page.hover("#sentences .word >> nth=1")
    assert page.locator("#sentences .text").text_content() == text
    assert page.locator("#sentences script, #sentences img").count() == 0
    assert page.evaluate("window.hacked") is None


def test_sliding_decides_as_the_rule(page: Page, page_service: Service) -> None:
    write(page, TEXT)
    results = records(page_service, TEXT)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    for threshold in (0.0, 0.1, 0.25, 0.5, 0.9, 1.0):
        slide(page, threshold)
        assert marked(page) == by_rule(results, Rule(word_threshold=threshold)), threshold
        assert page.locator(".threshold output").inner_text() == f"{threshold:.2f}"
    page.click(".threshold .link")
    assert marked(page) == by_rule(results, HEDGES)
    assert requests == []  # all in the browser


def test_the_mark_is_where_calibration_was(page: Page) -> None:
    write(page, TEXT)
    expect(page.locator(".threshold .note")).to_have_text("▾ calibrated at 0.43 (sentence labels)")
    expect_mark(page, HEDGES.word_threshold)
    slide(page, 0.6)
    slide(page, 0.43)  # the nearest step stands for the exact number
    expect(page.locator(".threshold .link")).to_be_hidden()


def test_other_methods_are_decided_as_the_service_does(page: Page, page_service: Service, tmp_path: Path) -> None:
    text = "The motor may turn a bolt."
    (result,) = records(page_service, text, method="occlusion")
    scores = {word["text"]: word["score"] for word in result["words"]}
    assert HEDGES.word_threshold < scores["motor"] < 0.5  # the model's own threshold would mark it
    write(page, text)
    page.select_option("#method", "occlusion")
    settled(page)
    expect(page.locator("#sentences .word.yes")).to_have_text(["may"])
    assert marked(page) == [word["text"] for word in result["words"] if word["label"]] == ["may"]
    expect(page.locator("#summary")).to_have_text("1 of 1 sentence hedge · 1 word")
    expect(page.locator(".threshold output")).to_have_text("0.50")
    expect(page.locator(".threshold .note")).to_have_text("▾ fixed at 0.50, as for every method but the model's own")
    low, high = min(scores.values()), max(scores.values())
    expect_mark(page, (0.5 - low) / (high - low))
    slide(page, 1.0)
    page.click(".threshold .link")
    assert json.loads(downloaded(page, "#download", tmp_path).read_text(encoding="utf-8")) == result
    page.locator("#sentences .word", has_text="bolt").click()
    (corrected,) = read_gold(downloaded(page, "#corrections-tsv", tmp_path)).examples
    assert corrected.word_labels == tuple((word in ("may", "bolt"),) for word in scores)


def test_three_labels_and_their_rules(three: Page, page_service: Service) -> None:
    text = "Perhaps the valve leaks in rain.\nThe engine breaks and fails.\nA report holds."
    write(three, text)
    expect(three.locator(".threshold")).to_have_count(3)
    results = records(page_service, text, "three")
    assert marked(three) == [word["text"] for result in results for word in result["words"] if word["labels"]]
    for label, rule in THREE.items():
        three.get_by_role("radio", name=label).check(force=True)
        expect(three.locator(".threshold")).to_have_count(1)
        expected = []
        for result in results:
            scores = np.array([word["scores"][label] for word in result["words"]])
            decisions = rule.words(scores)
            expected += [word["text"] for word, yes in zip(result["words"], decisions, strict=True) if yes]
            assert [label in word["labels"] for word in result["words"]] == decisions.tolist()
        assert marked(three) == expected, label


def test_the_score_of_a_word(page: Page) -> None:
    write(page, TEXT)
    word = page.locator("#sentences .word", has_text="may")
    word.hover()
    tip = page.locator("#tip")
    expect(tip).to_contain_text("0.875 hedge ≥ 0.427")
    assert word.get_attribute("aria-describedby") == "tip"
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()


def test_correcting_and_undoing(page: Page) -> None:
    write(page, TEXT)
    before = marked(page)
    valve, may = (page.locator("#sentences .word", has_text=word) for word in ("valve", "may"))
    valve.click()
    may.click()
    expect(valve).to_have_class("word k0 yes added")
    expect(may).to_have_class("word k0 removed")
    expect(page.locator("#corrections-count")).to_have_text("2 corrections in 2 sentences")
    slide(page, 1.0)
    assert marked(page) == ["valve"]  # what a person said stays
    page.click(".threshold .link")
    page.keyboard.press("Control+z")
    expect(may).to_have_class("word k0 yes")
    page.click("#discard")
    assert marked(page) == before
    page.click("#undo")
    expect(valve).to_have_class("word k0 yes added")
    valve.click()  # takes it back
    assert marked(page) == before


def test_corrections_are_training_data(page: Page, tmp_path: Path) -> None:
    write(page, TEXT + "\nPerhaps an engine runs.")
    page.locator("#sentences .word", has_text="valve").click()
    for word in marked(page):
        if word not in ("valve",) and page.locator("#sentences li:first-child .word", has_text=word).count() == 1:
            page.locator("#sentences li:first-child .word", has_text=word).click()
    for button in ("#corrections-tsv", "#corrections-jsonl"):
        path = downloaded(page, button, tmp_path)
        corpus = read_gold(path)
        assert corpus.label_names == ("hedge",)
        assert [example.labels for example in corpus.examples] == [(True,), (False,)]
        assert [[flags[0] for flags in example.word_labels or ()] for example in corpus.examples] == [
            [False, True, False, False],
            [False] * 7,
        ]
        assert [example.labels for example in read(path).examples] == [(True,), (False,)]


def test_a_menu_where_a_word_can_have_several_labels(three: Page, page_service: Service, tmp_path: Path) -> None:
    text = "Perhaps the valve leaks in rain."
    write(three, text)
    valve = three.locator("#sentences .word", has_text="valve")
    before = set(records(page_service, text, "three")[0]["words"][2]["labels"])
    valve.click()
    three.get_by_role("menuitemcheckbox", name="wet").click()
    expect(valve).to_be_focused()
    valve.press("Enter")
    three.keyboard.press("ArrowDown")
    three.keyboard.press("Enter")
    corpus = read_gold(downloaded(three, "#corrections-jsonl", tmp_path), label_names=tuple(THREE))
    given = corpus.examples[0].word_labels
    assert given is not None
    assert {name for name, yes in zip(THREE, given[2], strict=True) if yes} == before ^ {"wet", "fault"}
    assert corpus.examples[0].labels == tuple(map(any, zip(*given, strict=True)))


def test_downloads_are_what_the_library_writes(page: Page, page_service: Service, tmp_path: Path) -> None:
    text = TEXT + "\n" + LONG_WORDS
    write(page, text)
    lines = downloaded(page, "#download", tmp_path).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == records(page_service, text)
    page.select_option("#format", "tsv")
    blocks = downloaded(page, "#download", tmp_path).read_text(encoding="utf-8")
    assert blocks == "".join(
        "".join(f"{word['text']}\t{word['score']:.6f}\t{word['label'] or 'O'}\n" for word in result["words"]) + "\n"
        for result in records(page_service, text)
    )
    page.click("#copy")
    expect(page.locator("#toast")).to_have_text("TSV copied")
    assert page.evaluate("navigator.clipboard.readText()") == blocks


def test_downloads_follow_slider_and_corrections(three: Page, page_service: Service, tmp_path: Path) -> None:
    text = "Perhaps the valve leaks in rain.\nA report holds."
    write(three, text)
    lines = downloaded(three, "#download", tmp_path).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == records(page_service, text, "three")
    for number in range(3):
        slide(three, 1.0, number)
    three.get_by_role("radio", name="hedge").check(force=True)
    three.locator("#sentences .word", has_text="report").click()
    lines = downloaded(three, "#download", tmp_path).read_text(encoding="utf-8").splitlines()
    first, second = map(json.loads, lines)
    assert first["spans"] == []
    assert first["labels"] == ["hedge", "fault", "wet"]  # the slider moves words, not sentences
    (span,) = second["spans"]
    assert (span["text"], span["label"], span["start"], span["end"]) == ("report", "hedge", 2, 8)
    assert [word["labels"] for word in second["words"]] == [[], ["hedge"], [], []]


def test_html_and_picture(page: Page, browser: Browser, tmp_path: Path) -> None:
    write(page, TEXT + "\n<script>window.hacked = 1</script> may")
    page.select_option("#format", "html")
    with opened(browser, downloaded(page, "#download", tmp_path).as_uri()) as report:
        assert report.locator("mark").all_text_contents() == marked(page)
        assert report.locator(".text").all_text_contents() == page.locator("#sentences .text").all_text_contents()
        assert report.locator("script").count() == 0
    page.select_option("#format", "png")
    picture = downloaded(page, "#download", tmp_path).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") == 1920
    page.click("#copy")
    expect(page.locator("#toast")).to_have_text("Picture copied")


@pytest.mark.parametrize("model", ["hedges", "three"])
def test_the_html_file_is_the_report_of_the_library(
    page: Page, page_service: Service, tmp_path: Path, model: str
) -> None:
    page.select_option("#model", model)
    write(page, TEXT)
    page.select_option("#format", "html")
    ours = downloaded(page, "#download", tmp_path).read_text(encoding="utf-8")
    results = Client(page_service.url).label(TEXT.split("\n"), model=model)
    rules = (HEDGES,) if model == "hedges" else tuple(THREE.values())
    style = Style(label_names=("hedge",) if model == "hedges" else tuple(THREE), rules=rules, title="")
    theirs = "".join(render(results, style))
    for tag in ("style", "section"):
        assert element(ours, tag) == element(theirs, tag)


def element(html: str, tag: str) -> str:
    """An element of a page, in one line, with its text in characters."""
    found = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
    assert found
    whole = re.sub(r'\s*\n\s*|<p class="note">.*', "", found[1])
    return unescape(whole.replace("<span>0.12<", "<span>0.13<"))  # of 0.125 JavaScript and Python make different ones


def test_links_bring_everything_back(page: Page, browser: Browser, page_service: Service) -> None:
    asked: list[str] = []
    page.select_option("#model", "three")
    write(page, TEXT + "\n😀 may <b>")
    page.select_option("#method", "occlusion")
    settled(page)
    page.get_by_role("radio", name="fault").check(force=True)
    slide(page, 0.7, 1)
    page.click("#link")
    expect(page.locator("#toast")).to_have_text("Link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url
    with opened(browser, "about:blank") as other:
        other.on("request", lambda request: asked.append(request.url))
        other.goto(link)
        expect(other.locator("#sentences .word").first).to_be_visible()
        assert other.input_value("#text") == page.input_value("#text")
        assert other.input_value("#model") == "three"
        assert other.input_value("#method") == "occlusion"
        assert (
            other.locator(".threshold output").all_text_contents()
            == page.locator(".threshold output").all_text_contents()
        )
        assert marked(other) == marked(page)
        assert all("z=" not in url.partition("#")[0] for url in asked)
        write(other, "Something else.")
        assert other.url == f"{page_service.url}/"  # the link no longer says what is shown


def test_a_thousand_sentences_stay_smooth(page: Page) -> None:
    text = "\n".join(
        f"The pump number {number} may fail under load in winter, at night and after rain." for number in range(1000)
    )
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.focus("#text")
    page.keyboard.press("Control+v")
    expect(page.locator("#summary")).to_contain_text("1,000 of 1,000 sentences hedge", timeout=60_000)
    assert page.locator("#sentences .word").count() < 5000  # only what is near is built
    dressed = page.evaluate(
        """() => {
            const observer = new MutationObserver(() => {});
            observer.observe(document.querySelector("#sentences"), {subtree: true, childList: true, attributes: true});
            const slider = document.querySelector("#threshold-0");
            slider.value = 1;
            slider.dispatchEvent(new Event("input", {bubbles: true}));
            return new Set(observer.takeRecords().map(({target}) => target.closest("li"))).size;
        }"""
    )
    assert 0 < dressed < 100  # and only that follows the slider at once
    page.locator("#pane").evaluate("pane => pane.scrollTop = pane.scrollHeight")
    expect(page.locator("#sentences .number", has_text="1,000")).to_be_visible()
    assert page.locator("#sentences > li").last.inner_text().endswith("after rain.")


def test_the_list_is_searched_filtered_and_sorted(page: Page) -> None:
    write(page, "The pump may fail.\nThe valve holds.\nPerhaps it leaks, perhaps not.")
    numbers = page.locator("#sentences .number")
    page.fill("#search", "HOLDS")
    expect(numbers).to_have_text(["2"])
    expect(page.locator("#listed")).to_have_text("1 of 3 listed")
    page.fill("#search", "no such word")
    expect(page.locator("#none-listed")).to_be_visible()
    page.click("#list-all")
    expect(numbers).to_have_text(["1", "2", "3"])
    page.select_option("#filter", "positive")
    expect(numbers).to_have_text(["1", "3"])
    page.select_option("#filter", "all")
    page.select_option("#sort", "lowest")
    expect(numbers).to_have_text(["2", "1", "3"])
    page.select_option("#sort", "marked")
    counts = page.locator("#sentences > li").evaluate_all(
        "all => all.map(li => li.querySelectorAll('.yes[data-word]').length)"
    )
    assert counts == sorted(counts, reverse=True)


def test_a_label_without_a_word_names_the_nearest(page: Page, page_service: Service) -> None:
    text = "The pump may fail."
    write(page, text)
    slide(page, 0.95)
    scores = {word["text"]: word["score"] for word in records(page_service, text)[0]["words"]}
    best = max(scores, key=lambda word: scores[word])
    expect(page.locator(".nearest")).to_have_text(f"nearest: “{best}” {scores[best]:.2f}")


def test_printing_has_every_row(page: Page) -> None:
    write(page, "\n".join(f"Valve {number} may hold." for number in range(300)))
    expect(page.locator("#summary")).to_contain_text("300 of 300")
    assert page.locator("#sentences > li").count() < 100
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#sentences .word").count() == 300 * 5
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#sentences > li").count() < 100
