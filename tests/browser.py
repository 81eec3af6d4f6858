"""Chromium on the real page and service, with scores that tests know beforehand."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect

import tiny
import toy
from zerotag.serve.models import ServedModel, Task
from zerotag.types import Rule, Scored, Sentence

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
AXE = files("axe_playwright_python").joinpath("axe.min.js")
HEDGES = Rule(word_threshold=0.4273, sentence_threshold=0.4682, origin="sentence labels")
THREE = {
    "hedge": Rule(word_threshold=0.3, origin="sentence labels"),
    "fault": Rule(word_threshold=0.45),
    "wet": Rule(word_threshold=0.2, sentence_threshold=0.1),
}

expect.set_options(timeout=30_000)


class KnownScores:
    """Stands in for a scorer: cue words score high, every other word by its letters, other methods on another scale."""

    def __init__(self, method: str, labels: Sequence[str]) -> None:
        self._method = method
        self._labels = labels

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        for sentence in sentences:
            scores = np.array([[self._word(word, label) for label in self._labels] for word in sentence.words])
            verdicts = tuple(
                0.9375 if set(map(str.lower, sentence.words)) & set(toy.CUES.get(label, ())) else 0.125
                for label in self._labels
            )
            yield Scored(sentence, verdicts, scores.reshape(len(sentence.words), len(self._labels)))

    def _word(self, word: str, label: str) -> float:
        score = 0.875 if word.lower() in toy.CUES.get(label, ()) else sum(map(ord, word + label)) % 64 / 128
        return score if self._method == "native" else 4 * score - 1


def chromium() -> str | None:
    """The browser: the one that ZEROTAG_CHROMIUM names, else the system's."""
    return os.environ.get("ZEROTAG_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)


def save_models(folder: Path) -> dict[str, Path]:
    """A model with one label and one with three, whose rules differ."""
    tiny.labeller().with_rules([HEDGES]).save_pretrained(folder / "hedges")
    tiny.labeller(labels=tuple(THREE)).with_rules(list(THREE.values())).save_pretrained(folder / "three")
    return {"hedges": folder / "hedges", "three": folder / "three"}


@contextmanager
def known_scores() -> Iterator[None]:
    """While this lasts, services score words as tests know."""

    def label(model: ServedModel, task: Task, sentences: Sequence[Sentence]) -> list[str]:
        return model.records(task, KnownScores(task.method, model.labeller.label_names).score(sentences))

    with mock.patch.object(ServedModel, "label", label):
        yield


@contextmanager
def opened(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    """A page of its own; at its end nothing may have gone wrong in the console."""
    options = {"viewport": {"width": 1200, "height": 900}, **options}
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], **options)
    errors: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        # Refused requests are shown there too, and are what some tests are about.
        if message.type == "error" and "Failed to load resource" not in message.text:
            errors.append(message.text)

    context.set_default_timeout(30_000)
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", listen)
    page.goto(url)
    yield page
    context.close()
    assert errors == []


def write(page: Page, text: str) -> None:
    """Types a text and waits for its words."""
    page.fill("#text", text)
    settled(page)


def settled(page: Page) -> None:
    """Waits until all that was asked for is there."""
    expect(page.locator("#sentences")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#sentences .word").first).to_be_visible()


def violations(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is shown now."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run().then(result => result.violations)")
    return [f"{one['id']}: {node['html']} {node['failureSummary']}" for one in found for node in one["nodes"]]


def marked(page: Page) -> list[str]:
    """The words that are shown as having a label."""
    return page.locator("#sentences .word.yes").all_text_contents()


def expect_marked(word: Locator, yes: bool = True) -> None:
    """A word is shown as having a label, or as having none; screen readers are told the same."""
    if yes:
        expect(word).to_contain_class("yes")
        expect(word).to_have_attribute("role", "mark")
    else:
        expect(word).not_to_contain_class("yes")
        expect(word).not_to_have_attribute("role", re.compile(""))


def downloaded(page: Page, button: str, folder: Path) -> Path:
    """The file that a button downloads."""
    with page.expect_download() as download:
        page.click(button)
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def module(page: Page, name: str, expression: str, given: object = None) -> Any:
    """What an expression says in which `m` is a JavaScript module of the page and `given` comes from the test."""
    return page.evaluate(
        f"async ([name, given]) => {{ const m = await import(name); return await ({expression}); }}",
        [f"/assets/{name}", given],
    )
