"""Small files that would take quadratic time or exhaust the memory, and values that no reader expects."""

from __future__ import annotations

import csv
import gzip
import json
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulk_runs import inputs
from source_files import write
from zerotag.bulk.inputs import BEGINNING, Chunk, Inputs
from zerotag.errors import ZerotagError
from zerotag.io import Columns, Source, lines, read_gold, records
from zerotag.io.readers import parquet as parquet_reader
from zerotag.io.rows import Reject


def chunks(path: Path) -> list[Chunk]:
    return list(inputs(path).chunks(BEGINNING, 1_000))


def reasons(path: Path) -> list[str]:
    """Why records were rejected, without where they stand."""
    return [str(rejected.record()["reason"]) for chunk in chunks(path) for rejected in chunk.rejected]


def cpu_seconds(path: Path) -> float:
    started = time.process_time()
    chunks(path)
    return time.process_time() - started


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.csv", 'x",".\n'),  # each opens a quote that no line closes for good
        ("a.csv", '"x\n'),
        ("a.csv", '"\n'),
        ("a.tsv", "x\tO\n"),
        ("a.m2", "A 0 3|||R|||x|||REQUIRED|||-NONE-|||0\n"),
    ],
)
def test_many_odd_lines_take_linear_time(tmp_path: Path, name: str, line: str) -> None:
    """10 s for each MB, and eight times as much input takes about eight times as long."""
    header = {"a.csv": "text,label\n", "a.m2": "S one two three\n"}.get(name, "")
    few, many = (write(tmp_path, f"{size}-{name}", header + line * (size // len(line))) for size in (1 << 14, 1 << 17))
    assert cpu_seconds(many) < max(1.3, 30 * cpu_seconds(few))


LINES = st.lists(st.text('xé",;\r', max_size=6), min_size=1, max_size=8)


def rows_one_by_one(text: list[str]) -> list[tuple[int, list[str] | None]]:
    """What the parser of the standard library makes of a table; after a bad row it begins anew with the next line."""
    found: list[tuple[int, list[str] | None]] = []
    at = 0
    while at < len(text):
        reader = csv.reader(iter(text[at:]), strict=True)
        try:
            cells = next(reader, [])
        except csv.Error:
            found.append((at, None))
            at += 1
            continue
        if cells:
            found.append((at, cells))
        at += reader.line_num
    return found


@given(LINES)
def test_rows_are_those_of_the_standard_library(tmp_path_factory: pytest.TempPathFactory, text: list[str]) -> None:
    ended = [f"{line}\n" for line in text]
    path = write(tmp_path_factory.mktemp("csv"), "a.csv", "text,b\n" + "".join(ended))
    expected = [(at + 2, cells) for at, cells in rows_one_by_one(ended)]
    found = {record.line: record for record in records(Source(path), columns=Columns())}
    assert list(found) == [line for line, _ in expected]
    for line, cells in expected:
        content = found[line].content
        if cells is not None and len(cells) == 2 and cells[0].strip():
            assert not isinstance(content, Reject)
            assert content.sentence.text == cells[0]
        else:
            assert isinstance(content, Reject)
            assert ("not valid CSV" in content.reason) == (cells is None)


@given(LINES, st.integers(0, 8))
def test_going_on_after_any_row(tmp_path_factory: pytest.TempPathFactory, text: list[str], after: int) -> None:
    path = write(tmp_path_factory.mktemp("csv"), "a.csv", "text,b\n" + "".join(f"{line}\n" for line in text))
    found = list(records(Source(path), columns=Columns()))
    if after < len(found):
        assert list(records(Source(path), columns=Columns(), start=found[after].end)) == found[after + 1 :]


def test_a_quote_is_closed_within_a_megabyte_or_never(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'text\n"' + f"{'x ' * 999}\n" * 600 + '"\nlast\n')
    (first, *_), *_ = [list(chunk.rejected) for chunk in chunks(path) if chunk.rejected]
    assert (first.origin.line, first.reason) == (
        2,
        f"{path}:2: not valid CSV (a quote that is not closed within 1 MiB); see its quotes and line ends",
    )
    assert chunks(path)[-1].sentences[-1].text == "last"


@pytest.mark.parametrize(("name", "line"), [("a.tsv.gz", "x\tO\n"), ("a.m2.gz", "S x\n")])
def test_a_sentence_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: str) -> None:
    monkeypatch.setattr(lines, "MAX_PARAGRAPH", 1 << 10)
    content = line * 2 + "\n" if name == "a.tsv.gz" else line + "\n"
    path = write(tmp_path, name, gzip.compress((content + line * 1_000 + "\n" + content).encode()))
    (chunk,) = chunks(path)
    assert len(chunk.sentences) == 2
    (rejected,) = chunk.rejected
    assert rejected.reason.startswith(f"{path}:{content.count(chr(10)) + 1}: more than ")
    assert rejected.reason.endswith(" without a blank line, which ends a sentence; put it in")
    with pytest.raises(ZerotagError, match="without a blank line"):
        read_gold(path)


@pytest.mark.parametrize("depth", [250, 950, 5_000, 200_000])
@pytest.mark.parametrize("key", ["text", "other"])
def test_deep_json_is_a_rejected_record(tmp_path: Path, depth: int, key: str) -> None:
    deep = "[" * depth + '"\\ud800"' + "]" * depth
    record = f'{{"text": "a", "{key}": {deep}, "words": {deep}}}\n'
    path = write(tmp_path, "a.jsonl", record + '{"text": "one"}\n')
    (reason,) = reasons(path)
    assert reason.startswith(("JSON of more than 200 levels", "not valid JSON (maximum recursion depth"))
    assert [sentence.text for chunk in chunks(path) for sentence in chunk.sentences] == ["one"]


def test_json_of_dozens_of_levels_is_a_parse_tree(tmp_path: Path) -> None:
    tree = "[" * 60 + "]" * 60
    path = write(tmp_path, "a.jsonl", f'{{"text": "one", "tree": {tree}}}\n')
    assert reasons(path) == []


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32()),
        pa.array([2**62, 0], pa.int64()).cast(pa.date64(), safe=False),
        pa.array([2**62, 0], pa.int64()).cast(pa.timestamp("us")),
        pa.array([2**62, 0], pa.int64()).cast(pa.timestamp("ns", tz="UTC")),
        pa.array([2**62, 0], pa.int64()).cast(pa.duration("ms")),
    ],
    ids=lambda values: str(values.type),
)
def test_dates_that_python_does_not_know_are_rejected_records(tmp_path: Path, values: pa.Array) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": values, "unread": values}), path)
    assert len(reasons(path)) == 2
    pq.write_table(pa.table({"text": ["one", "two"], "label": values}), path)
    assert reasons(path) == []  # nobody asks for labels
    with pytest.raises(ZerotagError, match=r"row 1: "):
        read_gold(path)


def test_packed_parquet_is_unpacked_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_reader, "MOST_UNPACKED", 1 << 20)
    path = write(tmp_path, "a.parquet.gz", gzip.compress(bytes(1 << 20) + b"x"))
    with pytest.raises(ZerotagError) as caught:
        Inputs([Source(path)], Columns()).check()
    assert str(caught.value) == f"{path}: more than 1,048,576 bytes once it is unpacked; unpack it first"


def test_thousands_of_spans_over_thousands_of_words(tmp_path: Path) -> None:
    text = "x " * 20_000
    spans = [{"start": 0, "end": len(text)}] * 10_000
    path = write(tmp_path, "a.jsonl", json.dumps({"text": text, "spans": spans}) + "\n")
    started = time.process_time()
    with pytest.raises(ZerotagError, match=r":1: spans that cover 1,000,000 words in all"):
        read_gold(path)
    assert time.process_time() - started < 10


def test_thousands_of_edits_of_thousands_of_words(tmp_path: Path) -> None:
    edit = "A 0 20000|||R|||x|||REQUIRED|||-NONE-|||0\n"
    path = write(tmp_path, "a.m2", "S" + " x" * 20_000 + "\n" + edit * 20_000)
    started = time.process_time()
    (example,) = read_gold(path).examples
    assert time.process_time() - started < 10
    assert example.word_labels == ((True,),) * 20_000
