"""Records that cannot be used: each kind is set aside with file, line and reason, and those around it are labelled."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bulk_runs import inputs, packed
from source_files import write
from zerotag.bulk import blocks
from zerotag.bulk.inputs import BEGINNING, Chunk, Cursor
from zerotag.io import lines

KINDS: dict[str, tuple[str, bytes, int, str, str]] = {
    # file, content around a bad record, its line, its reason, how it begins; "one" and "two" are fine
    "text: not UTF-8": ("a.txt", b"one\ncaf\xe9\ntwo\n", 2, "not UTF-8 (byte 0xe9 at position 4); save", "caf\\xe9"),
    "text: NUL byte": ("a.txt", b"one\n\na\0b\ntwo\n", 3, "a NUL byte: a binary file", "a\0b"),
    "text: a huge word": ("a.txt", b"one\n" + b"x" * 1_000_000 + b"\ntwo", 2, "a word of 1,000,000", "x" * 200 + "…"),
    "jsonl: not JSON": ("a.jsonl", b'{"text":"one"}\n{"text\n{"text":"two"}\n', 2, "not valid JSON (", '{"text'),
    "jsonl: no object": ("a.jsonl", b'{"text":"one"}\n7\n{"text":"two"}\n', 2, "'7' is not a JSON object", "7"),
    "jsonl: no text": (
        "a.jsonl",
        b'{"text":"one"}\n{"body":1}\n{"text":"two"}\n',
        2,
        "no column 'text'; there are 'body'",
        '{"body":1}',
    ),
    "jsonl: text is a number": (
        "a.jsonl",
        b'{"text":"one"}\n{"text":1}\n{"text":"two"}',
        2,
        "'text' is 1; it must be a text",
        '{"text":1}',
    ),
    "jsonl: empty text": (
        "a.jsonl",
        b'{"text":"one"}\n{"text":" "}\n{"text":"two"}',
        2,
        "an empty sentence",
        '{"text":" "}',
    ),
    "jsonl: half a character": (
        "a.jsonl",
        b'{"text":"one"}\n{"text":"\\ud83d"}\n{"text":"two"}',
        2,
        "\\ud83d is half a character",
        '{"text":"\\ud83d"}',
    ),
    "csv: too many columns": ("a.csv", b"id,text\n1,one\n2,a,b\n3,two\n", 3, "the number of columns is 3", "2,a,b"),
    "csv: empty text": ("a.csv", b"id,text\n1,one\n2,\n3,two\n", 3, "an empty sentence", "2,"),
    "csv: not UTF-8": ("a.csv", b"id,text\n1,one\n2,\xff\n3,two\n", 3, "not UTF-8 (byte 0xff", "2,\\xff"),
    "csv: open quote, closed by the next": (
        "a.csv",
        b'id,text\n1,one\n2,"open\n3,"two"\n',
        3,
        "not valid CSV (",
        '2,"open',
    ),
    "csv: open quote, never closed": (
        "a.csv",
        b'id,text\n1,one\n2,"open\n3,two\n',
        3,
        "not valid CSV (unexpected end of data)",
        '2,"open',
    ),
    "tsv: not UTF-8": ("a.tsv", b"one\n\na\n\xff\nb\n\ntwo\n", 3, "{file}:4: not UTF-8", "a\n\\xff\nb"),
    "tsv: empty word": ("a.tsv", b"one\n\n\tO\n\ntwo\n", 3, "an empty word", "\tO"),
    "tsv: carriage return": ("a.tsv", b"one\n\na\rb\n\ntwo\n", 3, "a carriage return inside", "a\rb"),
    "m2: no S line": ("a.m2", b"S one\n\nX\n\nS two\n", 3, "expected 'S ' and the words of a sentence", "X"),
}


def only_chunk(path: Path) -> Chunk:
    (chunk,) = inputs(path).chunks(BEGINNING, 100)
    return chunk


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind(tmp_path: Path, kind: str, packing: str) -> None:
    name, content, line, reason, raw = KINDS[kind]
    path = write(tmp_path, name + packing, packed(content, packing))
    chunk = only_chunk(path)
    assert [sentence.text for sentence in chunk.sentences] == ["one", "two"]
    (rejected,) = chunk.rejected
    record = rejected.record()
    assert (record["source"], record["line"], record["raw"]) == (str(path), line, raw)
    assert str(record["reason"]).startswith(reason.format(file=path))
    assert rejected.reason.startswith(f"{path}:")


def test_an_open_quote_over_several_lines_takes_one_line(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'text\n"open\none\ntwo\n"three"\n"four\nand more"\n')
    chunk = only_chunk(path)
    assert [sentence.text for sentence in chunk.sentences] == ["one", "two", "three", "four\nand more"]
    assert [rejected.origin.line for rejected in chunk.rejected] == [2]


def test_bytes_that_are_no_text_inside_quotes(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", b'text\none\n"a\n\xff"\ntwo\n')
    chunk = only_chunk(path)
    assert [sentence.text for sentence in chunk.sentences] == ["one", "two"]
    assert [(rejected.origin.line, rejected.raw) for rejected in chunk.rejected] == [(3, '"a'), (4, '\\xff"')]
    assert f"{path}:4: not UTF-8" in chunk.rejected[0].reason


def test_parquet(tmp_path: Path) -> None:
    texts = pa.array([b"one", b"a\xff", None, b" ", b"two"])
    broken = pa.Array.from_buffers(pa.string(), 5, texts.buffers())
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": broken}), path, row_group_size=2)
    chunk = only_chunk(path)
    assert [sentence.text for sentence in chunk.sentences] == ["one", "two"]
    records = [rejected.record() for rejected in chunk.rejected]
    assert [(record["line"], record["raw"]) for record in records] == [(2, "a\\xff"), (3, "None"), (4, " ")]
    reasons = [str(record["reason"]) for record in records]
    assert reasons[0].startswith("not UTF-8 (byte 0xff at position 2)")
    assert reasons[1].startswith("'text' is None; it must be a text")
    assert reasons[2].startswith("an empty sentence")
    for number, end in enumerate(chunk_ends(path), 1):
        (rest, *_) = [*inputs(path).chunks(end, 100), Chunk([], end, None, ())]
        assert len(rest.sentences) + len(rest.rejected) == 5 - number


def chunk_ends(path: Path) -> list[Cursor]:
    return [chunk.end for chunk in inputs(path).chunks(BEGINNING, 1)]


def test_a_line_that_would_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 1 << 20)
    monkeypatch.setattr(blocks, "_SMALLEST_STRIDE", 1 << 30)
    path = write(tmp_path, "a.txt", b"one\n" + b"x" * (5 << 19) + b"\ntwo\n")
    chunk = only_chunk(path)
    assert [sentence.text for sentence in chunk.sentences] == ["one", "two"]
    assert [origin.line for origin in chunk.origins] == [1, 3]
    assert chunk.rejected[0].reason == f"{path}:2: a line of more than 1 MiB; split or remove it"
    assert chunk.end.position == (path.stat().st_size, 3)


def test_a_last_line_without_an_end_may_be_as_long_as_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 12)
    chunk = only_chunk(write(tmp_path, "a.txt", "short\neleven long"))
    assert [sentence.text for sentence in chunk.sentences] == ["short", "eleven long"]
