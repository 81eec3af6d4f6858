"""Corrected sentences in each form that people make them in go into `tune` and into `train --from`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import toy
from commands import CommandLine
from zerotag.types import GoldExample

MARKED = toy.gold(12, seed=3)


def spans(one: GoldExample) -> list[dict[str, object]]:
    """The marked words, as places in the text."""
    assert one.word_labels is not None
    return [
        {"start": start, "end": end, "label": "hedge"}
        for (start, end), (positive,) in zip(one.sentence.spans, one.word_labels, strict=True)
        if positive
    ]


def as_span_lines(path: Path) -> None:
    """JSON lines as a person or another program writes them."""
    records = ({"text": one.sentence.text, "spans": spans(one)} for one in MARKED)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def as_page_lines(path: Path) -> None:
    """JSON lines as the page downloads corrected sentences: labels of words, and of the sentence."""
    with path.open("w") as file:
        for one in MARKED:
            words = ["hedge" if positive else "O" for (positive,) in one.word_labels or ()]
            label = "hedge" if one.labels[0] else "O"
            record = {"text": one.sentence.text, "words": one.sentence.words, "label": label, "word_labels": words}
            file.write(json.dumps(record) + "\n")


def as_tsv(path: Path) -> None:
    toy.write_tsv(path, MARKED)


def as_label_studio(path: Path) -> None:
    """As its export has it: the prediction that was shown, and the annotation that counts."""
    tasks = []
    for number, one in enumerate(MARKED):
        result = [
            {
                "id": f"{number}-{at}",
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
                "value": {"start": span["start"], "end": span["end"], "labels": ["hedge"]},
            }
            for at, span in enumerate(spans(one))
        ]
        tasks.append(
            {"data": {"text": one.sentence.text}, "annotations": [{"result": result}], "predictions": [{"result": []}]}
        )
    path.write_text(json.dumps(tasks))


@pytest.mark.parametrize(
    ("write", "name", "options"),
    [
        (as_span_lines, "marked.jsonl", ()),
        (as_page_lines, "page.jsonl", ()),
        (as_tsv, "marked.tsv", ()),
        (as_label_studio, "export.json", ("--input-format", "labelstudio")),
    ],
)
def test_each_form_teaches_the_same(
    zerotag: CommandLine,
    model: Path,
    tmp_path: Path,
    write: Callable[[Path], None],
    name: str,
    options: tuple[str, ...],
) -> None:
    corrected, plain = tmp_path / name, tmp_path / "plain.tsv"
    write(corrected)
    as_tsv(plain)
    said = zerotag.succeeds("tune", model, corrected, *options, "--out", tmp_path / "tuned")
    expected = zerotag.succeeds("tune", model, plain, "--out", tmp_path / "as-tsv")
    assert said.split(":", 1)[1] == expected.split(":", 1)[1]
    assert "word labels of 12 sentences" in said
    out = tmp_path / "improved"
    said = zerotag.succeeds("train", "--from", model, "--words", corrected, *options, "--out", out)
    assert "with word labels of 12 sentences (network)" in said
