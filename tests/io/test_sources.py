"""Files of any format: opening, decoding, formats by suffix, standard input, and what is refused."""

import gzip
import io
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from source_files import write
from zerotag.errors import ZerotagError
from zerotag.io import Columns, read, read_gold, stream

RECORDS = {
    "tsv": "It\tO\nmay\tC\n",
    "conll": "It PRP O\nmay MD C\n",
    "csv": "text,label\nIt may,C\n",
    "jsonl": '{"text": "It may", "label": "C"}\n',
}
ENTRIES: list[Callable[[Path], object]] = [read, read_gold, stream]


def failure(entry: Callable[[Path], object], path: Path) -> str:
    with pytest.raises(ZerotagError) as caught:
        entry(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def fill(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="ascii"))

    return fill


@pytest.mark.parametrize(
    ("suffix", "file_format"),
    [
        (".tsv", "tsv"),
        (".conll", "conll"),
        (".BIO", "conll"),
        (".CSV", "csv"),
        (".jsonl", "jsonl"),
        (".ndjson", "jsonl"),
    ],
)
def test_format_by_suffix(tmp_path: Path, suffix: str, file_format: str) -> None:
    plain = write(tmp_path, f"a{suffix}", RECORDS[file_format])
    zipped = write(tmp_path, f"a{suffix}.gz", gzip.compress(RECORDS[file_format].encode()))
    assert [e.sentence.words for e in read(plain).examples] == [("It", "may")]
    assert read(zipped) == read(plain)
    assert read(str(plain)) == read(plain)


@pytest.mark.parametrize("file_format", RECORDS)
def test_given_format_goes_before_the_suffix(tmp_path: Path, file_format: str) -> None:
    path = write(tmp_path, "a.txt", RECORDS[file_format])
    assert read(path, columns=Columns(format=file_format)).label_names == ("C",)


def test_plain_text_has_a_sentence_per_line(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "\ufeffIt may.\r\n\r\n \u00a0\n\u200b\nOne\u2028two\x0bthree\rfour\nno line end")
    texts = [sentence.text for sentence in stream(path)]
    assert texts == ["It may.", "One\u2028two\x0bthree\rfour", "no line end"]


def test_plain_text_has_no_labels(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "It may.\n")
    for entry in (read, read_gold):
        assert failure(entry, path) == f"{path}: plain text has no labels; give a tsv, csv, jsonl or parquet file"


@pytest.mark.parametrize("path", [None, "-", Path("-")])
def test_standard_input(stdin: Callable[[bytes], None], path: Path | None) -> None:
    stdin("It may… 👍🏽\n\nYes.".encode())
    assert [s.words for s in stream(path)] == [("It", "may", "…", "👍🏽"), ("Yes", ".")]
    assert not sys.stdin.closed


@pytest.mark.parametrize("file_format", RECORDS)
def test_standard_input_in_other_formats(stdin: Callable[[bytes], None], file_format: str) -> None:
    stdin(RECORDS[file_format].encode())
    assert [s.words for s in stream(None, columns=Columns(format=file_format))] == [("It", "may")]


def test_an_empty_pipe_has_no_sentences(stdin: Callable[[bytes], None]) -> None:
    stdin(b"")
    assert list(stream(None)) == []


def test_bad_standard_input(stdin: Callable[[bytes], None]) -> None:
    stdin(b"fine\n\xff\n")
    with pytest.raises(ZerotagError, match=r"^standard input:2: not UTF-8 \(byte 0xff at position 1\)"):
        list(stream(None))
    with pytest.raises(ZerotagError, match=r"^standard input: Parquet cannot be read from there; give a file"):
        stream(None, columns=Columns(format="parquet"))


def test_standard_input_is_read_as_it_comes() -> None:
    """A sentence comes out before the next one is there."""
    program = "from zerotag.io import stream\nfor s in stream(None): print(s.text, flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | _PATH
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in (b"one\n", b"two\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == line


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", ["gone.tsv", "gone.csv", "gone.jsonl", "gone.parquet", "gone", "gone.tsv.gz"])
def test_missing_file(tmp_path: Path, entry: Callable[[Path], object], name: str) -> None:
    assert failure(entry, tmp_path / name) == f"{tmp_path / name}: no such file"


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", ["a.tsv", "a.parquet", "a"])
def test_folder(tmp_path: Path, entry: Callable[[Path], object], name: str) -> None:
    (tmp_path / name).mkdir()
    assert failure(entry, tmp_path / name).startswith(f"{tmp_path / name}: a folder, not a file")


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_permission(tmp_path: Path, entry: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch) -> None:
    # Simulated, because nothing is forbidden to those who run the tests as root.
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, "a.tsv", RECORDS["tsv"])
    monkeypatch.setattr(Path, "open", refuse)
    assert failure(entry, path).startswith(f"{path}: no permission to read it")


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(
    ("name", "content"),
    [("a.tsv", ""), ("a.tsv", "\n \n"), ("a.csv", ""), ("a.csv", "text,label\n"), ("a.jsonl", ""), ("a.jsonl", "\n")],
)
def test_nothing_in_it(tmp_path: Path, entry: Callable[[Path], object], name: str, content: str) -> None:
    assert failure(entry, write(tmp_path, name, content)).startswith(f"{tmp_path / name}: no sentences in it")


@pytest.mark.parametrize("content", ["", "\n\n \n"])
def test_nothing_in_plain_text(tmp_path: Path, content: str) -> None:
    assert failure(stream, write(tmp_path, "a.txt", content)) == (
        f"{tmp_path / 'a.txt'}: no sentences in it; give a file that has some"
    )


def test_nothing_in_parquet(tmp_path: Path) -> None:
    assert "a.parquet: not a readable Parquet file" in failure(read, write(tmp_path, "a.parquet", ""))


@pytest.mark.parametrize("entry", [read, read_gold, lambda path: list(stream(path))])
@pytest.mark.parametrize("file_format", RECORDS)
@pytest.mark.parametrize(
    ("line", "problem"),
    [(b"caf\xe9\n", "not UTF-8 (byte 0xe9 at position 4)"), (b"a\0b\n", "a NUL byte: a binary file")],
)
def test_not_text(tmp_path: Path, entry: Callable[[Path], object], file_format: str, line: bytes, problem: str) -> None:
    content = RECORDS[file_format].encode() + line
    path = write(tmp_path, f"a.{file_format}", content)
    assert failure(entry, path).startswith(f"{path}:{content.count(bytes([10]))}: {problem}")


def test_utf_16(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", RECORDS["tsv"].encode("utf-16"))
    assert failure(read, path).startswith(f"{path}:1: a NUL byte: a binary file, or text that is not UTF-8")


@pytest.mark.parametrize("damage", [lambda b: b[:-6], lambda b: b[:12] + b"\xff\xff" + b[14:], lambda _: b"plain"])
def test_damaged_gzip_file(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = write(tmp_path, "a.tsv.gz", damage(gzip.compress(RECORDS["tsv"].encode())))
    assert failure(read, path).startswith(f"{path}: damaged gzip file (")


@pytest.mark.parametrize("entry", ENTRIES)
def test_unknown_suffix(tmp_path: Path, entry: Callable[[Path], object]) -> None:
    path = write(tmp_path, "a.docx", "It may.")
    assert failure(entry, path) == (
        f"{path}: unknown suffix '.docx'; those known are .tsv, .conll, .iob, .iob2, .bio, .csv, .jsonl, .ndjson, "
        ".json, .parquet, .xlsx, .xls, .xlsb, .ods, .m2, .txt; "
        "or say which format it is with --input-format: tsv, conll, csv, jsonl, json, parquet, xlsx, m2, text, "
        "labelstudio, doccano, argilla, prodigy"
    )


def test_unknown_format(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "It\tO\n")
    with pytest.raises(ZerotagError, match="unknown format 'xml'; the formats are 'tsv', 'conll'"):
        read(path, columns=Columns(format="xml"))


def test_columns_are_checked_on_construction() -> None:
    with pytest.raises(ZerotagError, match="labels is 'label'; give a tuple of texts"):
        Columns(labels="label")  # type: ignore[arg-type]
    with pytest.raises(ZerotagError, match="negative is 'O'; give a tuple of texts"):
        Columns(negative="O")  # type: ignore[arg-type]
    for labels in ((), ("a", "b", "a")):
        with pytest.raises(ZerotagError, match="name at least one column, and none twice"):
            Columns(labels=labels)


def test_long_lists_of_columns_are_cut_short(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", ",".join(f"column{i}" for i in range(1_000)))
    assert "'column19', …; choose with --text-column" in failure(read, path)


def test_a_long_word_is_not_shown(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", f"fine\n{'x' * 1_000_000}\n")
    with pytest.raises(ZerotagError) as caught:
        list(stream(path))
    assert str(caught.value) == (
        f"{path}:2: a word of 1,000,000 characters; at most 1,000 are allowed; split or remove it"
    )


def many_lines(file_format: str, count: int) -> Iterator[bytes]:
    record = {"tsv": b"It\tO\nmay\tC\n\n", "csv": b"It may,C\n", "jsonl": RECORDS["jsonl"].encode(), "txt": b"It may\n"}
    if file_format == "csv":
        yield b"text,label\n"
    for _ in range(count // 1_000):
        yield record[file_format] * 1_000


@pytest.mark.parametrize("file_format", ["tsv", "csv", "jsonl", "txt"])
def test_streaming_needs_constant_memory(tmp_path: Path, file_format: str) -> None:
    path = tmp_path / f"a.{file_format}"
    with path.open("wb") as file:
        file.writelines(many_lines(file_format, 20_000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in stream(path)) == 20_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 500_000  # the sentences together would need more than ten times that


_PATH = {"PYTHONPATH": os.pathsep.join(sys.path)}


def test_nothing_heavy_is_imported() -> None:
    program = "import sys, zerotag.io; print(*{'torch', 'pyarrow', 'transformers', 'pandas'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ | _PATH
    )
    assert done.stdout.strip() == ""
