"""From a table to a model, on the page: choosing columns, training, coming back, and taking the table away again."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import tiny
from browser import downloaded, expect_marked, known_scores, opened, settled, write
from services import Service, until
from zerotag.serve.workspace.settings import WorkspaceSettings

ROWS = [(" ".join(words), "unsure" if any(flags) else "plain") for words, flags in tiny.sentences(60)]


NOTHING_BETTER = {
    **{"id": "j", "kind": "improve", "name": "hedges-2", "state": "done", "settings": {"of": "hedges"}},
    **{"progress": None, "message": None},
    "result": {"sentences": 7, "before": {"f1": 0.92}, "after": {"thresholds": {"f1": 0.9}}, "way": None, "seconds": 1},
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceSettings:
    folder = tmp_path_factory.mktemp("workspace")
    return WorkspaceSettings(folder=folder / "work", encoder=str(tiny.encoder_folder(folder / "encoder")))


@pytest.fixture(scope="module")
def service(workspace: WorkspaceSettings) -> Iterator[Service]:
    with Service({}, workspace=workspace) as running:
        yield running


@pytest.fixture
def bench(browser: Browser, service: Service) -> Iterator[Page]:
    with opened(browser, service.url) as page:
        expect(page.locator("#start")).to_be_visible()
        yield page


def table(folder: Path) -> Path:
    path = folder / "notes.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["nr", "remark", "verdict", "who"])
        writer.writerows([f"n{i}", text, label, "A, B"] for i, (text, label) in enumerate(ROWS))
        file.write("one cell only\n")
    return path


def test_from_a_table_to_a_trained_corrected_and_improved_model(bench: Page, service: Service, tmp_path: Path) -> None:
    expect(bench.locator("#lead")).to_contain_text("There is no model yet.")
    expect(bench.locator("#steps")).to_be_visible()
    expect(bench.locator("#text")).to_be_hidden()
    bench.set_input_files("#file", table(tmp_path))
    expect(bench.locator("#table-title")).to_have_text("notes.csv · 60 rows")
    expect(bench.locator("#table-problems")).to_contain_text("Line 62: the number of columns is 1, in the header 4")
    assert (bench.input_value("#table-text"), bench.input_value("#table-label")) == ("remark", "verdict")
    expect(bench.locator("#table-found")).to_contain_text("every sentence has one of the labels")
    bench.select_option("#table-negative", "plain")
    bench.select_option("#table-id", "nr")
    expect(bench.locator("#table-found")).to_contain_text("60 sentences, of them 30 “unsure”")
    expect(bench.locator("#table-found")).to_contain_text("60 sentences are few")
    bench.fill("#table-name", "mine")
    bench.click("#table-train")
    expect(bench.locator("#job-list")).to_contain_text("mine")
    bench.reload()  # it goes on without the page
    expect(bench.locator("#job-list")).to_contain_text("Ready after", timeout=120_000)
    bench.click("#job-list >> text=Use it")
    settled(bench)
    compare_with_the_file(bench)
    take_the_table_away(bench, service, tmp_path)
    improve(bench, service)


def compare_with_the_file(bench: Page) -> None:
    expect(bench.locator("#summary")).to_contain_text("of 60 sentences unsure")
    expect(bench.locator("#gold")).to_contain_text("of 60 as in the file (precision")
    expect(bench.locator("#gold")).to_contain_text("it was trained on these")
    expect(bench.locator("#model-note")).to_contain_text("mine")
    bench.select_option("#filter", "wrong")
    wrong = bench.locator("#sentences .unlike").count()
    right = int((bench.locator("#gold").text_content() or "").split()[0])
    assert right + wrong == 60


def take_the_table_away(bench: Page, service: Service, folder: Path) -> None:
    bench.click("#table-again")
    bench.select_option("#table-id", "nr")
    bench.click("#table-use")
    with downloaded(bench, "#download", folder).open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert [(row["nr"], row["remark"], row["who"]) for row in found] == [
        (f"n{i}", text, "A, B") for i, (text, _) in enumerate(ROWS)
    ]
    records = service.label([text for text, _ in ROWS], model="mine").json["results"]
    assert [row["zerotag_label"] for row in found] == [record["label"] or "" for record in records]
    assert [float(row["zerotag_score"]) for row in found] == [record["score"] for record in records]


def improve(bench: Page, service: Service) -> None:
    """By somebody who would mark more words than the model: about two in each sentence that has the label."""
    texts = dict(ROWS)
    words = {record["text"]: record["words"] for record in service.label(list(texts), model="mine").json["results"]}
    seconds = [sorted(word["score"] for word in words[text])[-2] for text in texts if texts[text] == "unsure"]
    wanted = sorted(seconds)[len(seconds) // 2]
    bench.click("#review-start")
    expect(bench.locator("#review-keys")).to_be_visible()
    expect(bench.locator("#sentences .word").first).to_be_focused()
    for done in range(1, 13):
        row = bench.locator("#sentences li:has(:focus)")
        text = row.locator(".text").inner_text()
        for number, word in enumerate(words[text]):
            should_have = texts[text] == "unsure" and word["score"] >= wanted
            if should_have != ("yes" in (row.locator(".word").nth(number).get_attribute("class") or "").split()):
                row.locator(".word").nth(number).click()
        bench.keyboard.press("y")
        expect(bench.locator("#review-state")).to_contain_text(f"{done} of 20 sentences looked at")
    bench.click("#improve")
    expect(bench.locator("#job-list")).to_contain_text("on your 12 sentences, cross-validated", timeout=60_000)
    said = re.search(r"Word F1 (\d+) → (\d+)", bench.locator("#job-list").inner_text())
    assert said is not None
    assert int(said[1]) < int(said[2])
    expect(bench.locator("#job-list details")).to_contain_text("changed")
    expect(bench.locator("#model")).to_have_value("mine-2")
    expect(bench.locator("#model-note")).to_contain_text("mine-2")


@pytest.fixture(scope="module")
def taught(model_folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    workspace = WorkspaceSettings(folder=tmp_path_factory.mktemp("taught"))
    with known_scores(), Service(model_folders, workspace=workspace) as running:
        yield running


def test_what_was_reviewed_is_never_lost(browser: Browser, taught: Service) -> None:
    text = "\n".join(text for text, _ in ROWS)
    with opened(browser, taught.url) as bench:
        write(bench, text)
        expect(bench.locator("#summary")).to_contain_text("of 60 sentences")
        bench.click("#review-start")
        expect(bench.locator("#review-keys")).to_be_visible()
        expect(bench.locator("#sentences .word").first).to_be_focused()
        phrase = bench.locator("#sentences > li").first.locator(".word")
        pressed = "yes" in (phrase.first.get_attribute("class") or "").split()
        phrase.nth(0).hover()
        bench.mouse.down()
        phrase.nth(1).hover()
        bench.mouse.up()
        for number in (0, 1):
            expect_marked(phrase.nth(number), not pressed)
        phrase.first.focus()
        bench.keyboard.press("y")
        for done in range(2, 7):
            bench.keyboard.press("y")
            expect(bench.locator("#review-state")).to_contain_text(f"{done} of 20 sentences looked at")
        expect(bench.locator("#corrections-count")).to_have_text("2 corrections in 1 sentence, 5 sentences right")
        bench.keyboard.press("v")
        expect(bench.locator("#sentences .said")).to_have_count(1)
        expect(bench.locator("#review-state")).to_contain_text("7 of 20")
        until(lambda: len(taught.get("/v1/workspace/corrections/hedges").json["corrections"]) == 7)
    with opened(browser, taught.url) as other:  # another tab, or the same one after a crash
        write(other, text)
        expect(other.locator("#review-state")).to_contain_text("7 of 20 sentences looked at")


def test_what_makes_nothing_better_makes_no_model(browser: Browser, taught: Service) -> None:
    with opened(browser, taught.url) as page:
        page.route("**/v1/workspace/jobs", lambda route: route.fulfill(json={"jobs": [NOTHING_BETTER]}))
        page.reload()
        expect(page.locator("#job-list")).to_contain_text("Nothing better yet: word F1 is 92 on your 7 sentences")
        expect(page.locator("#job-list")).not_to_contain_text("Use it")


def test_what_cannot_be_read_or_trained_on_is_said_there(bench: Page, tmp_path: Path) -> None:
    file = tmp_path / "ragged.csv"
    file.write_text("only one line\n", encoding="utf-8")
    bench.set_input_files("#file", file)
    expect(bench.locator("#notice")).to_contain_text("Couldn’t read ragged.csv")
    bench.click("#start-demo")
    expect(bench.locator("#table-title")).to_have_text("hedging.train.jsonl · 792 rows")
    expect(bench.locator("#table-found")).to_contain_text("792 sentences")
    bench.select_option("#table-label", "text")
    expect(bench.locator("#table-refusal")).to_be_visible()
    expect(bench.locator("#table-train")).to_be_disabled()
