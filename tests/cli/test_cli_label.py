"""`zerotag label`: every way in and every way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import toy
from commands import CommandLine
from zerotag.io import read_gold, stream
from zerotag.labeller import load

TEXT = "the pump may leak , perhaps .\na valve holds at night .\n"


def test_standard_input_to_standard_output(zerotag: CommandLine, model: Path) -> None:
    lines = zerotag.succeeds("label", model, stdin=TEXT).splitlines()
    assert [json.loads(line)["text"] for line in lines] == TEXT.splitlines()
    assert zerotag.succeeds("label", model, "-", stdin=TEXT).splitlines() == lines


def test_the_fields_of_jsonl(zerotag: CommandLine, model: Path) -> None:
    first, second = map(json.loads, zerotag.succeeds("label", model, "--format", "jsonl", stdin=TEXT).splitlines())
    assert list(first) == ["text", "score", "label", "words", "spans"]
    assert (first["label"], second["label"]) == ("hedge", None)
    assert first["score"] > 0.5 > second["score"]
    assert second["spans"] == []
    marked = [word["text"] for word in first["words"] if word["label"] == "hedge"]
    assert {"may", "perhaps"} <= set(marked)
    assert all(list(word) == ["text", "start", "end", "score", "label"] for word in first["words"])
    assert {"may", "perhaps"} <= {part for span in first["spans"] for part in span["text"].split()}
    labelled = load(model).label(TEXT.splitlines())[0]
    scores = [word["score"] for word in first["words"]]
    assert scores == pytest.approx([word.score for word in labelled.words], abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧 may leak 😀, perhaps!",
        "cafe\u0301 may  leak",
        "a\u00a0pump\tmay leak",
        "שלום may עולם \u202aleak\u202c",
        "𝔘𝔫𝔦 may 🇩🇪 leak",
    ],
)
def test_offsets_point_into_the_text_as_it_was(zerotag: CommandLine, model: Path, text: str) -> None:
    result = json.loads(zerotag.succeeds("label", model, stdin=text + "\n"))
    assert result["text"] == text
    for part in [*result["words"], *result["spans"]]:
        assert text[part["start"] : part["end"]] == part["text"]
    assert [word["text"] for word in result["words"] if word["text"] in ("may", "leak")] == ["may", "leak"]


def test_tsv_can_be_read_again(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    zerotag.succeeds("label", model, "--out", out, stdin=TEXT)
    again = read_gold(out)
    assert [example.sentence.words for example in again.examples] == [tuple(line.split()) for line in TEXT.splitlines()]
    assert [example.labels for example in again.examples] == [(True,), (False,)]
    expected = load(model).label([line.split() for line in TEXT.splitlines()])
    for example, result in zip(again.examples, expected, strict=True):
        assert example.word_labels == tuple((bool(word.labels),) for word in result.words)
    scores = [float(line.split("\t")[1]) for line in out.read_text().splitlines() if line]
    assert scores == pytest.approx([word.score for result in expected for word in result.words], abs=1e-6)
    evaluated = zerotag.succeeds("evaluate", model, out)
    assert "100.0" in evaluated


def test_html_is_one_page(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    zerotag.succeeds("label", model, "--out", out, stdin=TEXT + "<script>alert(1)</script>\n")
    page = out.read_text()
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "perhaps" in page
    assert "<script>alert" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_text_without_a_terminal_has_brackets(zerotag: CommandLine, model: Path) -> None:
    first, second = zerotag.succeeds("label", model, "--format", "text", stdin=TEXT).splitlines()
    assert "hedge  the pump [may] leak" in first
    assert "[" not in second
    assert "\x1b" not in first


def test_text_in_a_terminal_has_colours(zerotag: CommandLine, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b[" in zerotag.succeeds("label", model, stdin=TEXT)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in zerotag.succeeds("label", model, stdin=TEXT)


def test_every_input_format(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sentences = [line.split() for line in TEXT.splitlines()]
    texts = TEXT.splitlines()
    (tmp_path / "in.txt").write_text(TEXT)
    (tmp_path / "in.tsv").write_text("".join("".join(f"{w}\n" for w in words) + "\n" for words in sentences))
    (tmp_path / "in.csv").write_text("text\n" + "".join(f'"{text}"\n' for text in texts))
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    pq.write_table(pa.table({"text": texts}), tmp_path / "in.parquet")
    expected = zerotag.succeeds("label", model, stdin=TEXT)
    for source in sorted(tmp_path.glob("in.*")):
        assert zerotag.succeeds("label", model, source) == expected, source
    body = (tmp_path / "in.csv").read_text().replace("text\n", "body\n", 1)
    assert zerotag.succeeds("label", model, "--input-format", "csv", "--text-column", "body", stdin=body) == expected


def test_what_was_written_as_jsonl_can_be_labelled_again(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    zerotag.succeeds("label", model, "--out", out, stdin=TEXT)
    assert [sentence.text for sentence in stream(out)] == TEXT.splitlines()
    assert zerotag.succeeds("label", model, out) == out.read_text()


def test_nothing_in_nothing_out(zerotag: CommandLine, model: Path) -> None:
    assert zerotag.succeeds("label", model) == ""
    assert zerotag.succeeds("label", model, stdin="\n \n") == ""


def test_the_suffix_says_the_format_unless_it_is_given(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    starts = {"a.jsonl": ("{",), "b.tsv": ("the\t",), "c.html": ("<!",), "d.txt": ("0.", "1."), "e": ("{",)}
    for name, start in starts.items():
        zerotag.succeeds("label", model, "--out", tmp_path / name, stdin=TEXT)
        assert (tmp_path / name).read_text().startswith(start), name
    zerotag.succeeds("label", model, "--out", tmp_path / "f.html", "--format", "tsv", stdin=TEXT)
    assert (tmp_path / "f.html").read_text().startswith("the\t")


def test_an_output_that_exists(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    line = zerotag.fails("label", model, "--out", out, stdin=TEXT)
    assert line == f"{out} exists; choose another name or give --overwrite"
    assert out.read_text() == "mine"
    zerotag.succeeds("label", model, "--out", out, "--overwrite", stdin=TEXT)
    assert len(out.read_text().splitlines()) == 2


def test_a_mistake_far_down_makes_no_output(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_bytes(b"a pump .\n" * 3000 + b"\xff\n")
    out = tmp_path / "out.jsonl"
    assert zerotag.fails("label", model, source, "--out", out, "--strict").startswith(f"{source}:3001: not UTF-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.jsonl.partial"]
    assert "another input" not in zerotag("label", model, source, "--out", out, "--resume").err
    assert len(out.read_text().splitlines()) == 3000


def test_a_plain_classifier_does_not_score_words(
    zerotag: CommandLine, tmp_path: Path, encoder: Path, gold_file: Path
) -> None:
    corpus = toy.write_tsv(tmp_path / "train.tsv", toy.gold(20))
    zerotag.succeeds("train", corpus, "--out", tmp_path / "model", "--model", encoder, "--head", "cls", "--epochs", 1)
    line = "this model is a plain sentence classifier (head cls) and does not score words"
    cure = ": choose another method, as in --method occlusion"
    assert zerotag.fails("label", tmp_path / "model", stdin=TEXT) == line + cure
    assert zerotag.fails("evaluate", tmp_path / "model", gold_file) == line + cure
    assert zerotag.succeeds("label", tmp_path / "model", "--method", "occlusion", stdin=TEXT)
