"""The main flow in Firefox: from `zerotag serve` without a model and a CSV to a trained, corrected and improved one."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from commands import ENVIRONMENT

pytest.importorskip("websockets", reason="websockets is not installed; `make firefox` has an environment with it")

from firefox import FirefoxPage, firefox, opened_firefox

SENTENCES = 160
REVIEWED = 12
ROWS = [json.loads(line) for line in files("zerotag.demo").joinpath("hedging.train.jsonl").read_text().splitlines()][
    :SENTENCES
]
HEDGES = {row["text"]: [row["text"][span["start"] : span["end"]] for span in row["spans"]] for row in ROWS}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of the command, started as a newcomer starts it."""
    command = [sys.executable, "-m", "zerotag", "serve", "--port", "0", "--workspace", str(tmp_path / "workspace")]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as service:
        try:
            assert service.stdout is not None
            yield next(found[0] for line in service.stdout if (found := re.search(r"http://\S+", line)))
        finally:
            service.terminate()


@pytest.fixture
def page(address: str, tmp_path: Path) -> Iterator[FirefoxPage]:
    program = firefox()
    if program is None:
        pytest.skip("no Firefox is installed, and ZEROTAG_FIREFOX names none")
    with opened_firefox(program, tmp_path / "profile") as one:
        one.goto(address)
        yield one
        assert one.errors == []


@pytest.mark.timeout(900)
def test_from_a_csv_to_an_improved_model(page: FirefoxPage, tmp_path: Path) -> None:
    page.wait_for("document.querySelector('#start')?.checkVisibility()")
    assert "There is no model yet." in page.text("#lead")
    train(page, tmp_path / "hedges.csv")
    page.wait_for("!document.querySelector('#progress').checkVisibility()")
    assert re.search(rf"\d+ of {SENTENCES} sentences hedge", page.text("#summary"))
    slide(page)
    review(page)
    page.click("#improve")
    page.wait_for("/cross-validated/.test(document.querySelector('#job-list').innerText)", 300)
    assert re.search(rf"(Word F1 \d+ → \d+|word F1 is \d+) on your {REVIEWED} sentences", page.text("#job-list"))


def train(page: FirefoxPage, table: Path) -> None:
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows([row["text"], "hedge" if row["label"] else "plain"] for row in ROWS)
    page.choose_file("#file", table)
    page.wait_for("document.querySelector('#table').open")
    assert page.text("#table-title") == f"hedges.csv · {SENTENCES} rows"
    page.evaluate("document.querySelector('#table-negative').value = 'plain'")
    page.evaluate("document.querySelector('#table-negative').dispatchEvent(new Event('change', {bubbles: true})) && 1")
    page.wait_for("/of them \\d+ “hedge”/.test(document.querySelector('#table-found').innerText)")
    page.click("#table-train")
    page.wait_for("document.querySelector('#sentences .word')", 600)  # it is labelled as soon as there is a model


def slide(page: FirefoxPage) -> None:
    """The slider moves what is marked, and back."""
    marked = "document.querySelectorAll('#sentences .word.yes').length"
    before = page.evaluate(marked)
    page.evaluate("document.querySelector('.threshold input').focus() ?? 1")
    page.press(*["ArrowLeft"] * 30)
    assert page.evaluate(marked) > before
    page.click(".threshold .link")
    assert page.evaluate(marked) == before


def review(page: FirefoxPage) -> None:
    """The sentences that are asked for, with the words that hedge marked in them."""
    page.click("#review-start")
    page.wait_for("document.activeElement?.closest('#sentences li')")
    for done in range(1, REVIEWED + 1):
        row = "document.activeElement.closest('li')"
        text = page.evaluate(f"{row}.querySelector('.text').textContent")
        words = page.evaluate(
            f"[...{row}.querySelectorAll('.word')].map((word) => [word.textContent, word.classList.contains('yes')])"
        )
        hedging = {word for hedge in HEDGES[text] for word in hedge.split()}
        for number, (word, is_marked) in enumerate(words):
            if is_marked != (word in hedging):
                page.evaluate(f"{row}.querySelectorAll('.word')[{number}].setAttribute('id', 'wrong') ?? 1")
                page.click("#wrong")
                page.evaluate("document.querySelector('#wrong').removeAttribute('id') ?? 1")
        page.press("y")
        page.wait_for(f"document.querySelector('#review-state').textContent.startsWith('{done} of 20')")
