"""Every way out: packed or not, each chunk on its own, and Parquet with the very records of JSON lines."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bulk_runs import run, style, unpacked
from source_files import write
from zerotag.bulk.journal import unfinished
from zerotag.bulk.run import label_to_file
from zerotag.errors import ZerotagError
from zerotag.io import read_gold
from zerotag.io.writers import parquet
from zerotag.io.writers.appendable import Form, encoder, form_for

LABELS = ("hedge", "fault", "wet")


def labelled(folder: Path, form: Form, *, labels: tuple[str, ...] = ("hedge",), at_once: int = 3) -> Path:
    source = write(folder, "in.txt", "".join(f"pump {i} may leak\n" for i in range(20)))
    target = folder / f"out-{form.format}{form.packing}"
    its_encoder = encoder(form, style(labels))
    with unfinished(target, None, resume=False, beginning=its_encoder.beginning) as output:
        label_to_file(run(source, labels=labels, at_once=at_once), output, its_encoder)
    return target


@pytest.mark.parametrize("packing", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["jsonl", "tsv"])
def test_packed_text(tmp_path: Path, name: str, packing: str) -> None:
    plain = labelled(tmp_path, Form(name))
    path = labelled(tmp_path, Form(name, packing))
    assert unpacked(path.rename(tmp_path / f"a.{name}{packing}")) == plain.read_bytes()


def test_gzip_members_do_not_depend_on_the_time() -> None:
    once = Form("jsonl", ".gz").pack(b"data")
    assert once[4:8] == bytes(4)
    assert gzip.decompress(once + once) == b"datadata"


@pytest.mark.parametrize("labels", [("hedge",), LABELS])
@pytest.mark.parametrize("origins", [False, True])
def test_parquet_has_the_records_of_json_lines(tmp_path: Path, labels: tuple[str, ...], origins: bool) -> None:
    lines = labelled(tmp_path, Form("jsonl", "", origins), labels=labels).read_text().splitlines()
    records = [json.loads(line) for line in lines]
    table = pq.read_table(labelled(tmp_path, Form("parquet", "", origins), labels=labels))
    rows = table.to_pylist()
    assert table.schema.names == list(records[0])
    assert len(rows) == len(records) == 20
    for row, record in zip(rows, records, strict=True):
        assert json.loads(json.dumps(row), parse_float=single) == json.loads(json.dumps(record), parse_float=single)
    if origins:
        assert [row["line"] for row in rows] == list(range(1, 21))


def test_parquet_of_a_file_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    source, target = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")), tmp_path / "out"
    source.write_text("a pump\n")
    its_encoder = encoder(Form("parquet", "", True), style())
    with unfinished(target, None, resume=False, beginning=its_encoder.beginning) as output:
        label_to_file(run(source), output, its_encoder)
    assert pq.read_table(target).column("source").to_pylist() == [f"{tmp_path}/caf�.txt"]


def single(number: str) -> float:
    """Parquet has them in single precision."""
    return float(np.float32(number))


def test_the_types_of_parquet(tmp_path: Path) -> None:
    schema = pq.read_schema(labelled(tmp_path, Form("parquet"), labels=LABELS))
    words = schema.field("words").type.value_type
    assert schema.field("score").type == pa.float32()
    assert schema.field("labels").type.value_type == pa.string()
    assert [field.name for field in schema.field("scores").type] == list(LABELS)
    assert [field.name for field in words] == ["text", "start", "end", "score", "label", "scores", "labels"]
    assert words.field("start").type == pa.int32()
    assert [field.name for field in schema.field("spans").type.value_type] == ["text", "start", "end", "label", "score"]


def test_parquet_in_row_groups_of_one_size_whatever_the_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP", 8)
    metadata = pq.read_metadata(labelled(tmp_path, Form("parquet"), at_once=3))
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [8, 8, 4]


def test_tsv_of_several_chunks_can_be_read_again(tmp_path: Path) -> None:
    path = labelled(tmp_path, Form("tsv")).rename(tmp_path / "a.tsv")
    assert [example.sentence.words[1] for example in read_gold(path).examples] == [str(i) for i in range(20)]


@pytest.mark.parametrize(
    ("out", "asked", "expected"),
    [
        ("a.jsonl", None, ("jsonl", "")),
        ("a.JSONL.GZ", None, ("jsonl", ".gz")),
        ("a.tsv.zst", None, ("tsv", ".zst")),
        ("a.parquet", None, ("parquet", "")),
        ("a.html.gz", None, ("html", ".gz")),
        ("a.gz", None, ("jsonl", ".gz")),
        ("a", None, ("jsonl", "")),
        ("a", "tsv", ("tsv", "")),
        ("a.csv", "tsv", ("tsv", "")),
        ("a.txt.zst", "tsv", ("tsv", ".zst")),
        (None, None, ("text", "")),
        (None, "tsv", ("tsv", "")),
    ],
)
def test_the_form_of_an_output(out: str | None, asked: str | None, expected: tuple[str, str]) -> None:
    form = form_for(None if out is None else Path(out), asked, otherwise="text", origins=True)
    assert form == Form(*expected, origins=True)
    assert form.is_appendable == (form.format in ("jsonl", "tsv", "parquet"))


@pytest.mark.parametrize(
    ("out", "asked", "complaint"),
    [
        (None, "parquet", "parquet cannot go to standard output; name a file with --out"),
        (Path("a.parquet.gz"), None, "a.parquet.gz: parquet is compressed inside; leave out .gz"),
        (
            None,
            "pdf",
            "unknown format 'pdf'; allowed: jsonl, tsv, html, text, parquet, csv, xlsx, "
            "labelstudio, doccano, argilla, prodigy",
        ),
        (
            Path("a.pdf.gz"),
            None,
            "a.pdf.gz: unknown suffix '.pdf'; those known are .jsonl, .tsv, .html, .txt, .parquet, .csv, .xlsx; "
            "or say which format it is with --format: jsonl, tsv, html, text, parquet, csv, xlsx, "
            "labelstudio, doccano, argilla, prodigy",
        ),
        (Path("a.xlsx.gz"), None, "a.xlsx.gz: xlsx is compressed inside; leave out .gz"),
        (
            None,
            "csv",
            "csv cannot go to standard output; name a file with --out",
        ),
        (Path("-"), "tsv", "--out - is not needed: without --out results go to standard output"),
    ],
)
def test_forms_that_cannot_be(out: Path | None, asked: str | None, complaint: str) -> None:
    with pytest.raises(ZerotagError) as caught:
        form_for(out, asked, otherwise="text", origins=False)
    assert str(caught.value) == complaint
