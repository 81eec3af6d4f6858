"""The words of a corpus on the page: the same as in the library's report, and what a threshold is expected to find."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from browser import HEDGES, downloaded, known_scores, marked, opened, settled, write
from services import Service
from zerotag.evaluation.lexicon import LabelledCorpus, labelled_corpus
from zerotag.evaluation.metrics import at_thresholds
from zerotag.serve.client import Client
from zerotag.serve.workspace.settings import WorkspaceSettings

LINES = [
    *[
        "The pump may fail in winter.",
        "It may rain, or it may snow.",
        "The valve holds.",
        "Perhaps it holds, perhaps not.",
    ],
    *["May we go?", "The lid may stick.", "The pump may fail in winter."],
]


@pytest.fixture
def service(model_folders: dict[str, Path], tmp_path: Path) -> Iterator[Service]:
    """Of each test its own: what one corrects is kept, perhaps after its page was closed, and another would find it."""
    with known_scores(), Service(model_folders, workspace=WorkspaceSettings(folder=tmp_path / "workspace")) as running:
        yield running


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    with opened(browser, service.url) as one:
        write(one, "\n".join(LINES))
        yield one


def corpus(service: Service) -> LabelledCorpus:
    return labelled_corpus(Client(service.url).label(LINES, model="hedges"), ["hedge"], [HEDGES])


def rows(page: Page) -> list[list[str]]:
    table = page.locator("#corpus tbody tr")
    return [[cell.strip() for cell in row.locator("th, td").all_text_contents()] for row in table.all()]


def test_they_are_those_of_the_report(page: Page, service: Service) -> None:
    page.check("#view-words", force=True)
    expect(page.locator("#sentences")).to_be_hidden()
    found = corpus(service)
    (lexicon,) = found.lexicons
    assert rows(page) == [
        [
            entry.word,
            f"{entry.marked}",
            f"{entry.occurrences}",
            f"{entry.mean_score:.2f}",
            f"{100 * entry.sentences / found.sentences:.1f} %",
        ]
        for entry in lexicon.entries
    ]
    lead = f"{lexicon.sentences} of 7 sentences have it · {lexicon.marked} of {found.words} words carry it"
    expect(page.locator("#corpus p")).to_contain_text(lead)


def test_a_word_shows_where_it_stands_and_leads_there(page: Page, service: Service) -> None:
    page.check("#view-words", force=True)
    entry = next(one for one in corpus(service).lexicons[0].entries if one.word.lower() == "may")
    word = page.get_by_role("button", name=entry.word, exact=True)
    word.click()
    lines = page.locator("#corpus .concordance li")
    assert [one.split("0.8")[0] for one in lines.all_text_contents()][:2] == [
        hit.left + hit.word + hit.right for hit in entry.examples[:2]
    ]
    expect(word).to_be_focused()
    page.get_by_role("button", name=f"All {entry.sentences} sentences").click()
    expect(page.locator("#sentences > li")).to_have_count(entry.sentences)
    expect(page.locator("#search")).to_have_value(entry.word)


def test_they_follow_the_threshold_and_corrections(page: Page) -> None:
    page.check("#view-words", force=True)
    before = rows(page)
    page.locator("#threshold-0").fill("0.9")
    expect(page.locator("#corpus p")).to_contain_text("No word reaches the threshold.")
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("#corpus tbody tr")).to_have_count(len(before))
    page.check("#view-sentences", force=True)
    page.locator("#sentences .word", has_text="valve").first.click()
    page.check("#view-words", force=True)
    expect(page.locator("#corpus tbody tr")).to_have_count(len(before) + 1)


def test_a_threshold_says_what_is_expected_of_it(page: Page, service: Service) -> None:
    expect(page.locator(".expected")).to_be_hidden()
    given = [[word == "may" for word in line.lower().strip(".?").replace(",", " ,").split()] for line in LINES[:6]]
    for number in range(6):
        words = page.locator("#sentences > li").nth(number).locator(".word")
        wanted = {i for i, yes in enumerate(given[number]) if yes}
        for i, word in enumerate(words.all()):
            if ("yes" in (word.get_attribute("class") or "").split()) != (i in wanted):
                word.click()
        if not page.locator("#sentences > li").nth(number).locator(".added, .removed").count():
            words.first.focus()
            page.keyboard.press("y")
    results = Client(service.url).label(LINES[:6], model="hedges")
    scores = [np.array([word.score for word in one.words]) for one in results]
    golds = [
        np.array([i < len(row) and row[i] for i in range(len(some))]) for row, some in zip(given, scores, strict=True)
    ]
    for threshold in (0.2, 0.6):
        page.locator("#threshold-0").fill(str(threshold))
        (prf,) = at_thresholds(golds, scores, [threshold])
        shares = [f"{100 * prf.precision:.0f} %", f"{100 * prf.recall:.0f} %"]
        expect(page.locator(".expected b")).to_have_text(shares)  # a moment after the last correction
    expect(page.locator(".expected")).to_contain_text("on the 6 sentences you looked at")


def test_the_report_needs_no_server(page: Page, browser: Browser, tmp_path: Path) -> None:
    page.check("#view-words", force=True)
    file = downloaded(page, "#download", tmp_path)
    assert file.name == "zerotag.html"
    with opened(browser, file.as_uri()) as report:
        shown = [row[:1] for row in rows(page)]
        assert [[one] for one in report.locator("tbody th mark").all_text_contents()] == shown


def test_corrections_go_to_label_studio(page: Page, tmp_path: Path) -> None:
    page.locator("#sentences .word", has_text="valve").first.click()
    tasks = json.loads(downloaded(page, "#corrections-labelstudio", tmp_path).read_text())
    assert [task["data"]["text"] for task in tasks] == ["The valve holds."]
    found = tasks[0]["annotations"][0]["result"]
    assert [one["value"]["text"] for one in found if one["type"] == "labels"] == ["valve"]


def test_what_another_tab_corrects_is_seen_here(page: Page, service: Service) -> None:
    other = page.context.new_page()
    other.goto(service.url)
    write(other, "\n".join(LINES))
    other.locator("#sentences .word", has_text="winter").first.click()
    expect(page.locator("#sentences .added", has_text="winter").first).to_be_visible()
    settled(page)
    assert marked(page) == marked(other)
