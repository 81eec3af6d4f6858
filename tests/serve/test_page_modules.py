"""The page's own arithmetic and parsers, run in the browser and compared with Python's."""

from __future__ import annotations

import base64
import csv
import io
import random
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from browser import module, opened
from services import Service
from zerotag.render.scale import position
from zerotag.types import Rule


@pytest.fixture(scope="module")
def page(browser: Browser, page_service: Service) -> Iterator[Page]:
    """One for all: modules leave nothing behind."""
    with opened(browser, page_service.url) as one:
        yield one


def test_decides_as_the_rule_does(page: Page) -> None:
    draw = random.Random(1)
    steps = [k / 16 for k in range(-4, 20)]  # equal numbers must be common: they are where rules differ
    cases: list[dict[str, Any]] = []
    expected = []
    for _ in range(600):
        rule = Rule(word_threshold=draw.choice(steps), sentence_threshold=draw.choice(steps))
        scores = [draw.choice(steps) for _ in range(draw.randrange(6))]
        sentence = draw.choice(steps)
        cases.append({"rule": asdict(rule), "scores": scores, "sentence": sentence})
        expected.append([rule.words(np.array(scores, dtype=np.float64)).tolist(), rule.sentence(sentence)])
    decided = module(
        page,
        "rule.js",
        "given.map(({rule, scores, sentence}) => [Array.from(m.decideWords(rule, scores), Boolean), "
        "m.decideSentence(rule, sentence)])",
        cases,
    )
    assert decided == expected


def test_shades_as_the_report_does(page: Page) -> None:
    cases = [[k / 10, t / 10] for k in range(-20, 31) for t in (-5, 0, 1, 5, 9, 10, 20)]
    shades = module(page, "rule.js", "given.map(([score, threshold]) => m.position(score, threshold))", cases)
    assert shades == pytest.approx([position(score, threshold) for score, threshold in cases])


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("One line.\nAnother line", ["One line.", "Another line"]),
        ("It may rain. Bring a coat!  Or two?", ["It may rain.", "Bring a coat!", "Or two?"]),
        ("Dr. Okoye met J. Smith at No. 5. They left.", ["Dr. Okoye met J. Smith at No. 5.", "They left."]),
        ("  spaces around\t\r\n\n \u200b \n😀 may go", ["spaces around", "😀 may go"]),
        ("one\u2028two\u0085three", ["one", "two", "three"]),
        ("", []),
    ],
)
def test_text_to_sentences(page: Page, text: str, units: list[str]) -> None:
    found = module(page, "texts.js", "m.unitsOf(given).map(u => [u.text, given.substr(u.start, u.text.length)])", text)
    assert found == [[unit, unit] for unit in units]  # offsets point at the very text


def test_csv_is_what_python_reads(page: Page) -> None:
    draw = random.Random(2)
    for delimiter in ",;\t":
        rows = [["id", "text", "note"]] + [
            ["".join(draw.choices("ab \"\n,;\t'é", k=draw.randrange(1, 9))) for _ in range(3)] for _ in range(60)
        ]
        written = io.StringIO()
        csv.writer(written, delimiter=delimiter, lineterminator=draw.choice(["\n", "\r\n"])).writerows(rows)
        read = module(page, "csv.js", "m.parseCsv(given).map(row => row.cells)", written.getvalue())
        assert read == rows, delimiter


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "a,b\n\n", "\na,b\r\n"])
def test_csv_without_a_last_line_break(page: Page, text: str) -> None:
    assert module(page, "csv.js", "m.parseCsv(given).map(row => row.cells)", text) == [["a", "b"]]


@pytest.mark.parametrize("text", ["a,", 'a,""', "a,\n"])
def test_csv_with_an_empty_last_cell(page: Page, text: str) -> None:
    assert module(page, "csv.js", "m.parseCsv(given).map(row => row.cells)", text) == [["a", ""]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cat.png", b"\x89PNG", "It is none of the files this page reads: .txt, .csv, .jsonl, .tsv."),
        ("cat.txt", b"\xff\xfe\x00", "It is not text in UTF-8. Save it as UTF-8 and drop it again."),
        ("nul.txt", b"a\0b", "It is not text in UTF-8. Save it as UTF-8 and drop it again."),
        ("none.txt", b" \n", "It is empty."),
        ("a.csv", b'text\nok\n"open', "Line 3: a quote is opened and never closed."),
        ("a.csv", b'text\n"a"b', "Line 2: text after a closing quote; double the quotes inside a quoted cell."),
        ("a.csv", b'text,n\n"x\ny",1\nz', "Line 4: 1 columns, the header has 2."),
        ("a.csv", b"text,n\n", "Line 1: a header and no rows."),
        ("a.tsv", b"text\tlabel\nIt may rain\t1\nIt holds", "Line 3: 1 columns, the header has 2."),
        ("a.jsonl", b'{"text": "x"}\n\n{"text"', "Line 3: not valid JSON; write one object per line."),
        ("a.jsonl", b"[1]", "Line 1: not a JSON object."),
        ("a.jsonl", b'{"n": 1}', "Line 1: no field with a text, such as “text”, or with a list of words."),
    ],
)
def test_files_that_cannot_be_used(page: Page, name: str, content: bytes, message: str) -> None:
    said = module(
        page,
        "files.js",
        "m.readFile(new File([Uint8Array.from(atob(given[1]), c => c.charCodeAt(0))], given[0]))"
        ".then(() => 'taken', error => error.message)",
        [name, base64.b64encode(content).decode()],
    )
    assert said == message


def test_links_hold_any_text(page: Page) -> None:
    state = {"text": "é 😀 <b>&\n" * 300, "readings": [["a", "b"]], "label": None, "thresholds": {"hedge": 0.25}}
    link, back = module(
        page, "share.js", "m.linkTo(given).then(async link => [link, await m.stateIn(new URL(link).hash)])", state
    )
    assert len(link) < 400  # compressed
    assert back["text"] == state["text"]
    assert back["thresholds"] == [["hedge", 0.25]]


@pytest.mark.parametrize("fragment", ["#z=AAAA", "#p=%%%", "#p=bnVsbA", "#p=e30", "#p=eyJ1bml0cyI6WzFdfQ"])
def test_damaged_links(page: Page, fragment: str) -> None:
    said = module(page, "share.js", "m.stateIn(given).then(() => 'taken', error => error.message)", fragment)
    assert "damaged" in said


def test_other_fragments_are_nobodys_business(page: Page) -> None:
    assert module(page, "share.js", "m.stateIn('#text')") is None
