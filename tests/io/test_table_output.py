"""The input's table comes back, every row and cell of it, with the results where they belong."""

from __future__ import annotations

import csv
import datetime
import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import python_calamine
import xlsxwriter

import tiny
from commands import CommandLine
from zerotag.errors import ZerotagError
from zerotag.io import read
from zerotag.io.columns import Columns
from zerotag.io.table_output import TableOutput
from zerotag.io.writers import xlsx
from zerotag.labeller import WordLabeller

NAMES = ["zerotag_row", "zerotag_label", "zerotag_score", "zerotag_words", "zerotag_spans"]
TEXTS = ["the pump\nmay leak", "", "it rains \U0001f600 may", " ", 'a "quoted", valve', "the report"]
NOTES = ["=1+1", "@x", "-3", "+4", "007", "|"]


@pytest.fixture(scope="module")
def labeller() -> WordLabeller:
    return tiny.labeller().with_threshold(0.5)


@pytest.fixture
def zerotag(labeller: WordLabeller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> CommandLine:
    """The command line in a folder with a model and a table with multi-line cells, blanks and blank lines."""
    monkeypatch.chdir(tmp_path)
    labeller.save_pretrained("model")
    with Path("in.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "note"])
        for number, row in enumerate(zip(TEXTS, NOTES, strict=True)):
            writer.writerow([f"{number:03}", *row])
            if number == 2:
                file.write("\n")
    return CommandLine(capsys)


def rows_of(path: str) -> list[dict[str, Any]]:
    if path.endswith(".jsonl"):
        return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    if path.endswith(".parquet"):
        return list(pq.read_table(path).to_pylist())
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def expected(labeller: WordLabeller, *, nested: bool) -> list[dict[str, Any]]:
    rows = []
    for number, (text, note) in enumerate(zip(TEXTS, NOTES, strict=True)):
        row: dict[str, Any] = {"id": f"{number:03}", "text": text, "note": note, "zerotag_row": number + 1}
        if not text.strip():
            rows.append({**row, **dict.fromkeys(NAMES[1:])})
            continue
        one = labeller.label(text)
        spans = [
            {"text": s.text, "start": s.start, "end": s.end, "label": s.label, "score": round(s.score, 6)}
            for s in one.spans
        ]
        words: Any = [word.text for word in one.words if word.label]
        values = (one.label, round(one.score, 6), words if nested else "; ".join(words), spans)
        rows.append({**row, **dict(zip(NAMES[1:], values, strict=True))})
    return rows


@pytest.mark.parametrize("out", ["out.jsonl", "out.parquet"])
def test_nested_formats(zerotag: CommandLine, labeller: WordLabeller, out: str) -> None:
    zerotag.succeeds("label", "model", "in.csv", "--out", out, "--threshold", 0.5)
    assert rows_of(out) == expected(labeller, nested=True)


def test_csv_is_joined_by_row_number(zerotag: CommandLine, labeller: WordLabeller) -> None:
    zerotag.succeeds("label", "model", "in.csv", "--out", "out.csv", "--threshold", 0.5)
    found = rows_of("out.csv")
    for row, wanted in zip(found, expected(labeller, nested=False), strict=True):
        spans = wanted.pop("zerotag_spans")
        assert json.loads(row.pop("zerotag_spans") or "null") == (spans or None)
        assert row == {name: "" if value is None else str(value) for name, value in wanted.items()}
    before = pd.read_csv("in.csv", dtype=str, keep_default_na=False)
    after = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(after[before.columns], before)
    assert after["zerotag_row"].astype(int).tolist() == [*(before.index + 1)]


def test_rows_that_cannot_be_read_keep_their_number(zerotag: CommandLine) -> None:
    """As parsers of CSV count rows, so that a join by number puts no result beside another text."""
    Path("b.csv").write_bytes(b'text,n\none,1\ntoo,many,2\n\nlat\xe9,3\nfour,4\nan "open" quote,"5\nsix,6\n')
    Path("b.jsonl").write_text('{"text": "one"}\n[2]\n\n{"text": "three"}\n')
    Path("b.txt").write_bytes(b"one\n\nlat\xe9\nthree\n")
    for source, numbers in {"b.csv": "146", "b.jsonl": "13", "b.txt": "13"}.items():
        zerotag.succeeds("label", "model", source, "--out", f"{source}.out.csv")
        assert [row["zerotag_row"] for row in rows_of(f"{source}.out.csv")] == [*numbers]
        rejected = Path(f"{source}.out.csv.rejected.jsonl").read_text().splitlines()
        assert len(rejected) == int(numbers[-1]) - len(numbers)


def test_csv_is_written_as_it_was_read(zerotag: CommandLine) -> None:
    """With its delimiter and the byte order mark that Excel writes, and needs to read umlauts again."""
    Path("excel.csv").write_text("\ufefftext;n\n\u00fcbel;1\n", encoding="utf-8")
    zerotag.succeeds("label", "model", "excel.csv", "--out", "out.csv")
    header, row, *_ = Path("out.csv").read_text(encoding="utf-8").splitlines()
    assert header.startswith("\ufefftext;n;zerotag_row;")
    assert row.startswith("\u00fcbel;1;1;")


def test_workbooks_in_and_out_with_texts_as_texts(zerotag: CommandLine, labeller: WordLabeller) -> None:
    zerotag.succeeds("label", "model", "in.csv", "--out", "out.xlsx", "--threshold", 0.5)
    header: list[str]
    rows: list[list[Any]]
    header, *rows = python_calamine.CalamineWorkbook.from_path("out.xlsx").get_sheet_by_index(0).to_python()  # type: ignore[assignment]
    assert header == ["id", "text", "note", *NAMES]
    wanted = expected(labeller, nested=False)
    assert [row[:6] for row in rows] == [
        ["" if one[name] is None else one[name] for name in header[:6]] for one in wanted
    ]
    assert [row[6] for row in rows] == [one["zerotag_words"] or "" for one in wanted]
    assert [json.loads(str(row[7] or "null")) for row in rows] == [one["zerotag_spans"] or None for one in wanted]
    assert "<f>" not in zipfile.ZipFile("out.xlsx").read("xl/worksheets/sheet1.xml").decode()  # no formula
    # and back in: the same sentences, whatever else is in the workbook
    message = zerotag.fails("label", "model", "out.xlsx", "--out", "again.csv")
    assert message == "out.xlsx: there is a column 'zerotag_row' already; rename it or leave it out"
    zerotag.succeeds("label", "model", "out.xlsx", "--records", "--out", "again.jsonl", "--threshold", 0.5)
    assert [row["text"] for row in rows_of("again.jsonl")] == [text for text in TEXTS if text.strip()]


def test_workbooks_are_read_as_they_are_shown(tmp_path: Path, zerotag: CommandLine) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"))
    book.add_worksheet("empty")
    sheet = book.add_worksheet("data")
    for row, cells in {
        2: ["text", "hedge", "when"],
        3: ["It may rain.", 1],
        5: ["It rains.", 0],
        6: [42, False],
    }.items():
        sheet.write_row(row, 0, cells)
    sheet.write_datetime(3, 2, datetime.datetime(2026, 1, 2), book.add_format({"num_format": "yyyy-mm-dd"}))
    book.close()
    corpus = read("a.xlsx", label_column="hedge")
    assert [(one.sentence.text, one.labels) for one in corpus.examples] == [
        ("It may rain.", (True,)),
        ("It rains.", (False,)),
        ("42", (False,)),
    ]
    with pytest.raises(
        ZerotagError, match=r"a.xlsx: row 4: the label 'x' .*|a.xlsx: no column 'x'; there are 'text', "
    ):
        read("a.xlsx", label_column="x")
    zerotag.succeeds("label", "model", "a.xlsx", "--out", "a.parquet")
    table = pq.read_table("a.parquet")
    assert table.column("when").to_pylist()[0] == datetime.date(2026, 1, 2)
    assert table.column("zerotag_row").to_pylist() == [1, 3, 4]  # a blank row counts, as it does in Excel
    Path("broken.xlsx").write_bytes(b"PK\3\4 no")
    assert zerotag.fails("label", "model", "broken.xlsx", "--out", "x.csv").startswith(
        "broken.xlsx: not a readable workbook"
    )


def test_parquet_keeps_its_types(zerotag: CommandLine) -> None:
    fields = pa.schema(
        [("n", pa.int16()), ("text", pa.large_string()), ("at", pa.timestamp("ms")), ("l", pa.list_(pa.int8()))]
    )
    at = datetime.datetime(2026, 1, 2, 3, 4, 5)
    pq.write_table(pa.table([[1, None], ["a pump", None], [at, None], [[1], []]], schema=fields), "in.parquet")
    zerotag.succeeds("label", "model", "in.parquet", "--table", "--out", "out.parquet")
    found = pq.read_table("out.parquet")
    assert [found.schema.field(name) for name in fields.names] == [*fields]
    assert found.select(fields.names).to_pylist() == pq.read_table("in.parquet").to_pylist()
    zerotag.succeeds("label", "model", "in.parquet", "--out", "records.parquet")  # records, as ever
    assert pq.read_table("records.parquet").column_names == ["text", "score", "label", "words", "spans"]


def test_json_and_several_files(zerotag: CommandLine) -> None:
    Path("a.json").write_text('[{"text": "a pump", "k": 1}, 3, {"text": "b", "deep": {"x": [1]}}]')
    Path("b.txt").write_text("one\n\ntwo\n")
    zerotag.succeeds("label", "model", "a.json", "b.txt", "--out", "out.csv.gz")
    with gzip.open("out.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [*rows[0]][:5] == ["text", "k", "deep", "zerotag_source", "zerotag_row"]
    assert [(row["text"], row["k"], row["deep"], row["zerotag_source"], row["zerotag_row"]) for row in rows] == [
        ("a pump", "1", "", "a.json", "1"),
        ("b", "", '{"x": [1]}', "a.json", "3"),
        ("one", "", "", "b.txt", "1"),
        ("two", "", "", "b.txt", "2"),
    ]
    assert all(row["zerotag_score"] for row in rows)
    rejected = json.loads(Path("out.csv.gz.rejected.jsonl").read_text())
    assert rejected["reason"].startswith("3 is not an object")
    for content in ('{"text": "a"}', "[1", '"x"'):
        Path("c.json").write_text(content)
        assert zerotag.fails("label", "model", "c.json").startswith("c.json: ")


def test_a_run_that_was_stopped_goes_on(zerotag: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerotag.cli.label._AT_ONCE", 1)
    zerotag.succeeds("label", "model", "in.csv", "--out", "whole.csv")
    written = TableOutput.assemble
    monkeypatch.setattr(TableOutput, "assemble", lambda *_: (_ for _ in ()).throw(OSError(28, "no space")))
    assert zerotag("label", "model", "in.csv", "--out", "half.csv").code == 2
    assert not Path("half.csv").exists()
    monkeypatch.setattr(TableOutput, "assemble", written)
    zerotag.succeeds("label", "model", "in.csv", "--out", "half.csv", "--resume")
    assert Path("half.csv").read_bytes() == Path("whole.csv").read_bytes()
    assert "nothing is left to do" in zerotag("label", "model", "in.csv", "--out", "half.csv", "--resume").err


def test_what_a_workbook_has_no_room_for_is_refused_before_work(
    zerotag: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("long.csv").write_text(f"text\nshort\n{'x ' * 16_384}\n")
    message = zerotag.fails("label", "model", "long.csv", "--out", "out.xlsx")
    assert message.startswith("long.csv: row 3 has a cell of 32,768 characters; Excel has room for 32,767")
    monkeypatch.setattr("zerotag.io.table_output.MAX_ROWS", 6)
    assert zerotag.fails("label", "model", "in.csv", "--out", "out.xlsx").startswith("7 rows are more than Excel's 6")
    monkeypatch.setattr("zerotag.io.table_output.MAX_COLUMNS", 7)
    assert zerotag.fails("label", "model", "in.csv", "--out", "out.xlsx").startswith("8 columns are more than")
    assert not Path("out.xlsx").exists()
    assert not Path("out.xlsx.partial").exists()


def test_emoji_count_twice_in_a_workbook() -> None:
    xlsx.check_cells("a", 1, ["\U0001f600" * 16_383])
    with pytest.raises(ZerotagError, match="a cell of 32,768 characters"):
        xlsx.check_cells("a", 1, ["\U0001f600" * 16_384])


def test_what_cannot_be_a_table_is_refused(zerotag: CommandLine) -> None:
    for arguments in (
        ["in.csv", "--table", "--out", "a.tsv"],
        ["-", "--table", "--out", "a.jsonl"],
        ["in.csv", "--table"],
    ):
        assert zerotag.fails("label", "model", *arguments).startswith("--table needs files to label, and --out")
    assert "it needs files to label, --out, and no --records" in zerotag.fails("label", "model", "-", "--out", "a.csv")
    assert "csv cannot go to standard output" in zerotag.fails("label", "model", "in.csv", "--format", "csv")
    Path("twice.csv").write_text("text,a,a\nx,1,2\n")
    assert "several columns are called 'a'" in zerotag.fails("label", "model", "twice.csv", "--out", "out.csv")


def test_labels_have_a_score_each(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\nx\n")
    output = TableOutput((tmp_path / "a.csv",), Columns(), "csv", "", ("a", "b"))
    assert output.added.names[:5] == [
        "zerotag_row",
        "zerotag_label",
        "zerotag_score",
        "zerotag_score_a",
        "zerotag_score_b",
    ]
