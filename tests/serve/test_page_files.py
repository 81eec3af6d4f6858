"""Files of every kind, dropped on the page or chosen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser import settled

TEXTS = ["The pump may fail.", 'A valve, "the big one",\nholds in winter.', "Perhaps 😀 not."]


def drop(page: Page, name: str, content: str) -> None:
    """What letting go of a file over the page does."""
    page.evaluate(
        """([name, content]) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([content], name));
            for (const kind of ["dragenter", "dragover", "drop"]) {
                const how = {dataTransfer: transfer, bubbles: true, cancelable: true};
                document.body.dispatchEvent(new DragEvent(kind, how));
            }
        }""",
        [name, content],
    )


def shown(page: Page) -> list[str]:
    settled(page)
    return page.locator("#sentences .text").all_text_contents()


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def test_plain_text_can_be_edited(page: Page) -> None:
    drop(page, "notes.txt", "It may rain. Bring a coat.\r\nThe end")
    assert shown(page) == ["It may rain.", "Bring a coat.", "The end"]
    expect(page.locator("#text")).to_have_value("It may rain. Bring a coat.\nThe end")
    expect(page.locator("#drop")).to_be_hidden()


def test_csv_with_quotes_and_line_breaks(page: Page) -> None:
    drop(page, "table.CSV", "\ufeffid,text\r\n" + "".join(f"{i},{quoted(text)}\r\n" for i, text in enumerate(TEXTS)))
    assert shown(page) == TEXTS
    expect(page.locator("#file-card")).to_contain_text("table.CSV 3 texts")
    page.select_option("#column", "id")
    expect(page.locator("#sentences .text")).to_have_text(["0", "1", "2"])
    page.click("#file-close")
    expect(page.locator("#empty")).to_be_visible()
    expect(page.locator("#text")).to_be_focused()


def test_the_text_column_is_guessed(page: Page) -> None:
    drop(page, "table.csv", "n;remark\n1;It may rain.\n2;It rains.\n")
    assert shown(page) == ["It may rain.", "It rains."]


def test_json_lines_with_texts(page: Page) -> None:
    lines = "\n".join(json.dumps({"text": text, "label": 1}) for text in TEXTS)
    drop(page, "data.jsonl", lines + "\n\n")
    assert shown(page) == TEXTS


def test_json_lines_with_words(page: Page) -> None:
    drop(page, "data.jsonl", json.dumps({"words": ["can", "not", "may be"]}))
    assert shown(page) == ["can not may be"]
    assert page.locator("#sentences .word").all_text_contents() == ["can", "not", "may be"]


@pytest.mark.parametrize("column", ["text", "words"])
def test_json_lines_with_texts_and_words(page: Page, column: str) -> None:
    rows = [
        {"text": "It may rain.", "label": 1},
        {"words": ["can", "may be"]},
        {"text": None, "words": ["so it", "goes"]},
        {"sentence": "It holds."},
    ]
    drop(page, "data.jsonl", "\n".join(map(json.dumps, rows)))
    expect(page.locator("#file-card")).to_contain_text("data.jsonl 4 texts")
    page.select_option("#column", column)
    assert shown(page) == ["It may rain.", "can may be", "so it goes", "It holds."]
    assert page.locator("#sentences > li").nth(1).locator(".word").all_text_contents() == ["can", "may be"]


def test_columns_that_are_chosen_are_not_filled_from_others(page: Page) -> None:
    drop(page, "data.jsonl", '{"text": "It may rain.", "note": "Wet."}\n{"text": "It holds."}')
    page.select_option("#column", "note")
    expect(page.locator("#sentences .text")).to_have_text(["Wet."])


def test_empty_cells_are_not_filled_from_other_columns(page: Page) -> None:
    drop(page, "table.csv", "text,words\nIt may rain.,3\n,5\n")
    assert shown(page) == ["It may rain."]


def test_words_with_tabs_are_not_mistaken_for_others(page: Page) -> None:
    drop(page, "data.jsonl", '{"words": ["may\\tbe"]}\n{"words": ["may", "be"]}')
    settled(page)
    assert page.locator("#sentences .word").all_text_contents() == ["may\tbe", "may", "be"]


def test_words_and_labels(page: Page) -> None:
    drop(page, "gold.tsv", "The\tO\npump\tO\nmay\thedge\n\n\ndo\u00a0n't\tO\nstop\tO\n")
    assert shown(page) == ["The pump may", "do\u00a0n't stop"]
    assert page.locator("#sentences .word").all_text_contents() == ["The", "pump", "may", "do\u00a0n't", "stop"]


@pytest.mark.parametrize("header", ["text\tlabel", "sentence\tlabel", "id\ttext", '"Text"\t"Label"', "a, b; c\ttext"])
def test_a_spreadsheet_with_tabs_is_a_table(page: Page, header: str) -> None:
    is_last = header.endswith("text")
    rows = [("7", text) if is_last else (text, "7") for text in map(quoted, TEXTS)]
    drop(page, "table.tsv", "\ufeff" + "".join(f"{line}\r\n" for line in (header, *map("\t".join, rows))))
    assert shown(page) == TEXTS
    expect(page.locator("#file-card")).to_contain_text("table.tsv 3 texts")


@pytest.mark.parametrize("first", ["text\tO", "sentence\thedge", "label\tO", "text", '"\tO', "words\tlabel"])
def test_words_are_no_names_of_columns(page: Page, first: str) -> None:
    drop(page, "gold.tsv", f"{first}\nmay\thedge\n")
    word = first.split("\t")[0]
    assert shown(page) == [f"{word} may"]


def test_a_file_can_be_chosen(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("The pump may fail.")
    page.set_input_files("#file", path)
    assert shown(page) == ["The pump may fail."]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cat.png", "x", "It is none of the files this page reads"),
        ("a.jsonl", "{", "Line 1: not valid JSON"),
    ],
)
def test_wrong_files_leave_everything_as_it_is(page: Page, name: str, content: str, message: str) -> None:
    drop(page, "notes.txt", "The pump may fail.")
    assert shown(page) == ["The pump may fail."]
    drop(page, name, content)
    expect(page.locator("#notice")).to_contain_text(f"Couldn’t read {name}")
    expect(page.locator("#notice")).to_contain_text(message)
    assert shown(page) == ["The pump may fail."]
    page.fill("#text", "Better.")
    expect(page.locator("#notice")).to_be_hidden()


def test_files_are_taken_in_the_order_they_came_in(page: Page) -> None:
    page.evaluate(
        """() => {
            const read = File.prototype.arrayBuffer;
            File.prototype.arrayBuffer = async function () {
                if (this.name === "slow.txt") await new Promise((resolve) => (window.goOn = resolve));
                return read.call(this);
            };
        }"""
    )
    drop(page, "slow.txt", "The pump may fail.")
    drop(page, "quick.txt", "The valve holds.")
    page.evaluate("window.goOn()")
    page.wait_for_timeout(300)  # for the slow one, which must not come last
    expect(page.locator("#sentences .text")).to_have_text("The valve holds.")


def test_several_files_at_once_are_refused(page: Page) -> None:
    page.evaluate(
        """() => {
            const transfer = new DataTransfer();
            for (const name of ["a.txt", "b.txt"]) transfer.items.add(new File(["It may rain."], name));
            const how = {dataTransfer: transfer, bubbles: true, cancelable: true};
            document.body.dispatchEvent(new DragEvent("drop", how));
        }"""
    )
    expect(page.locator("#notice")).to_contain_text("These are 2 files.")
    expect(page.locator("#empty")).to_be_visible()


def test_links_to_files(page: Page) -> None:
    drop(page, "gold.tsv", "may\tO\nbe so\tO\n")
    settled(page)
    page.click("#link")
    expect(page.locator("#toast")).to_have_text("Link copied")
    page.reload()
    assert shown(page) == ["may be so"]
    assert page.locator("#sentences .word").all_text_contents() == ["may", "be so"]
