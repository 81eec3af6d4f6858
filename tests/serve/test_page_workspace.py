"""From a table to a model, on the page: choosing columns, training, coming back, and taking the table away again."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import tiny
from browser import downloaded, opened, settled
from services import Service, until
from zerotag.serve.workspace.settings import WorkspaceSettings

ROWS = [(" ".join(words), "unsure" if any(flags) else "plain") for words, flags in tiny.sentences(60)]


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


def test_from_a_table_to_a_trained_model_and_back(bench: Page, service: Service, tmp_path: Path) -> None:
    expect(bench.locator("#lead")).to_contain_text("There is no model yet.")
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
    expect(bench.locator("#summary")).to_contain_text("of 60 sentences unsure")
    expect(bench.locator("#gold")).to_contain_text("of 60 as in the file (precision")
    expect(bench.locator("#gold")).to_contain_text("it was trained on these")
    expect(bench.locator("#model-note")).to_contain_text("mine")
    bench.select_option("#filter", "wrong")
    wrong = bench.locator("#sentences .unlike").count()
    right = int((bench.locator("#gold").text_content() or "").split()[0])
    assert right + wrong == 60
    bench.click("#table-again")
    bench.select_option("#table-id", "nr")
    bench.click("#table-use")
    with downloaded(bench, "#download", tmp_path).open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert [(row["nr"], row["remark"], row["who"]) for row in found] == [
        (f"n{i}", text, "A, B") for i, (text, _) in enumerate(ROWS)
    ]
    records = service.label([text for text, _ in ROWS], model="mine").json["results"]
    assert [row["zerotag_label"] for row in found] == [record["label"] or "" for record in records]
    assert [float(row["zerotag_score"]) for row in found] == [record["score"] for record in records]


def test_corrections_make_a_better_model_and_are_never_lost(bench: Page, service: Service, browser: Browser) -> None:
    bench.click("#job-list >> text=Use it")  # the model of the test above
    settled(bench)
    bench.click("#review-start")
    expect(bench.locator("#review-keys")).to_be_visible()
    expect(bench.locator("#sentences .word").first).to_be_focused()
    assert bench.locator("#sentences > li").count() > 0
    phrase = bench.locator("#sentences > li").first.locator(".word")
    pressed = phrase.first.get_attribute("aria-pressed") == "true"
    phrase.nth(0).hover()
    bench.mouse.down()
    phrase.nth(1).hover()
    bench.mouse.up()
    for number in (0, 1):
        expect(phrase.nth(number)).to_have_attribute("aria-pressed", str(not pressed).lower())
    phrase.first.focus()
    bench.keyboard.press("y")
    for done in range(2, 7):
        bench.keyboard.press("y")
        expect(bench.locator("#review-state")).to_contain_text(f"{done} of 20 sentences looked at")
    bench.keyboard.press("v")
    expect(bench.locator("#sentences .said")).to_have_count(1)
    expect(bench.locator("#review-state")).to_contain_text("7 of 20")
    until(lambda: len(service.get("/v1/workspace/corrections/mine").json["corrections"]) == 7)
    with opened(browser, service.url) as other:  # another tab, or the same one after a crash
        other.click("#job-list >> text=Use it")
        settled(other)
        expect(other.locator("#review-state")).to_contain_text("7 of 20 sentences looked at")
        other.click("#improve")
        expect(other.locator("#job-list")).to_contain_text("Word F1", timeout=60_000)
        expect(other.locator("#job-list")).to_contain_text("on your 7 sentences, cross-validated")
        expect(other.locator("#model-note")).to_contain_text("mine-2")
        expect(other.locator("#model")).to_have_value("mine-2")


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
