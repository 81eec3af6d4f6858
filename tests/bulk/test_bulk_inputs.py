"""Several files as one sequence, cut into chunks; whoever goes on at the end of a chunk gets the same ones."""

from __future__ import annotations

import os
import random
import threading
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulk_runs import inputs, packed
from file_formats import FORMATS, as_parquet, as_text
from source_files import write
from zerotag.bulk import blocks
from zerotag.bulk import inputs as inputs_module
from zerotag.bulk.inputs import BEGINNING, Chunk, Inputs
from zerotag.errors import ZerotagError
from zerotag.io import Columns, Source

WORDS = st.text("añ字😀", min_size=1, max_size=3)
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), max_size=7)


def plain(chunk: Chunk) -> tuple[object, ...]:
    return chunk.sentences, chunk.origins, chunk.rejected, chunk.end


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("suffix", FORMATS)
@settings(max_examples=15)
@given(files=st.lists(TEXTS, min_size=1, max_size=3).filter(any), at_once=st.integers(1, 5))
def test_going_on_at_the_end_of_any_chunk(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, packing: str, files: list[list[str]], at_once: int
) -> None:
    folder = tmp_path_factory.mktemp("in")
    paths = [
        write(folder, f"{number}{suffix}{packing}", packed(FORMATS[suffix](texts), packing))
        for number, texts in enumerate(files)
    ]
    undisturbed = list(inputs(*paths).chunks(BEGINNING, at_once))
    origins = [origin for chunk in undisturbed for origin in chunk.origins]
    assert [origin.source for origin in origins] == [
        str(path) for path, texts in zip(paths, files, strict=True) for _ in texts
    ]
    assert all(before.line < after.line for before, after in pairwise(origins) if before.source == after.source)
    words = [list(sentence.words) for chunk in undisturbed for sentence in chunk.sentences]
    assert len(words) == sum(map(len, files))
    assert all(len(chunk.sentences) == at_once for chunk in undisturbed[:-1])
    for number, chunk in enumerate(undisturbed, 1):
        again = list(inputs(*paths).chunks(chunk.end, at_once))
        assert list(map(plain, again)) == list(map(plain, undisturbed[number:]))


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'text\none\n"two\nlines"\n\nthree\n')
    (chunk,) = inputs(path).chunks(BEGINNING, 9)
    assert [origin.line for origin in chunk.origins] == [2, 3, 6]


def test_long_records_make_short_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs_module, "MAX_CHARACTERS", 10)
    path = write(tmp_path, "a.txt", "four\n" * 6 + "much longer than ten\n" + "four\n" * 2)
    for enough, expected in ((0, [3, 3, 1, 2]), (0.24, [6, 2, 1]), (1, [9])):
        monkeypatch.setattr(inputs_module, "CHARACTERS", enough)
        sizes = [len(chunk.sentences) for chunk in inputs(path).chunks(BEGINNING, 100)]
        assert sizes == expected


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".txt.zst", ".parquet"])
def test_how_much_was_read(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_SMALLEST_STRIDE", 1 << 30)
    # Packed data of which every block is read only when it is needed: random words, far more than a buffer.
    draw = random.Random(0)
    texts = [draw.randbytes(499).hex() for _ in range(1_200)]
    content = as_parquet(texts) if suffix == ".parquet" else packed(as_text(texts), suffix[4:])
    paths = [write(tmp_path, f"{name}{suffix}", content) for name in "ab"]
    reading = inputs(*paths)
    shares = []
    for _ in reading.chunks(BEGINNING, 200):
        assert reading.share_read is not None
        shares.append(reading.share_read)
    assert shares == pytest.approx([i / 12 for i in range(1, 13)], abs=0.15)
    assert shares == list(accumulate(shares, max))


def test_how_much_of_standard_input_was_read_is_unknown() -> None:
    assert Inputs([Source(None)], Columns()).share_read is None


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe.txt", write(tmp_path, "file.txt", "three\n")
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("one\ntwo\n",))
    writer.start()
    reading = inputs(pipe, file)
    assert not reading.are_files
    (chunk,) = reading.chunks(BEGINNING, 9)
    writer.join()
    assert [sentence.text for sentence in chunk.sentences] == ["one", "two", "three"]
    assert reading.share_read is None


def test_standard_input_goes_alone(tmp_path: Path) -> None:
    with pytest.raises(ZerotagError, match=r"^standard input goes alone; give files, or - and nothing else$"):
        Inputs([Source(tmp_path / "a.txt"), Source(None)], Columns())


def test_every_file_is_looked_at_before_the_first_is_labelled(tmp_path: Path) -> None:
    good = write(tmp_path, "good.csv", "text\none\n")
    for name, content, complaint in [
        ("bad.csv", "body\none\n", ":1: no column 'text'"),
        ("bad.doc", "one\n", ": unknown suffix '.doc'"),
        ("bad.parquet", "one\n", ": not a readable Parquet file"),
        ("bad.txt.gz", "one\n", ": damaged gzip file"),
        ("bad.txt.zst", "one\n", ": damaged zstd file"),
    ]:
        bad = write(tmp_path, name, content)
        with pytest.raises(ZerotagError) as caught:
            inputs(good, bad)
        assert str(caught.value).startswith(f"{bad}{complaint}")
    with pytest.raises(ZerotagError, match=r"gone\.txt: no such file"):
        inputs(good, tmp_path / "gone.txt")


def test_an_empty_file_among_others_is_no_mistake(tmp_path: Path) -> None:
    empty, good = write(tmp_path, "empty.txt", "\n"), write(tmp_path, "good.txt", "one\n")
    (chunk,) = inputs(empty, good, empty).chunks(BEGINNING, 9)
    assert [sentence.text for sentence in chunk.sentences] == ["one"]
    with pytest.raises(ZerotagError, match=r"empty.txt: no sentences in it; give a file that has some$"):
        inputs(empty)
    with pytest.raises(ZerotagError, match=r"empty.txt and the other files: no sentences in"):
        inputs(empty, empty)


def test_a_zstd_file_that_ends_too_early(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt.zst", packed(as_text([str(i) for i in range(9_999)]), ".zst")[:-9])
    with pytest.raises(ZerotagError, match=r"a.txt.zst: damaged zstd file \(Truncated compressed stream\)"):
        list(inputs(path).chunks(BEGINNING, 10))


def test_what_tells_files_from_others(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "one\n")
    before = inputs(path).names_and_sizes()
    assert inputs(path).names_and_sizes() == before
    write(tmp_path, "a.txt", "other\n")
    assert inputs(path).names_and_sizes() != before


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_an_edit_that_keeps_size_and_time_is_noticed(tmp_path: Path, suffix: str, packing: str) -> None:
    """In what was read by the end of the first chunk; what comes after it may still change."""
    path = write(tmp_path, f"a{suffix}{packing}", packed(FORMATS[suffix]([f"pump {i}" for i in range(99)]), packing))
    read = next(inputs(path).chunks(BEGINNING, 5)).read
    assert inputs(path).first_changed(read) is None
    before, content = path.stat(), bytearray(path.read_bytes())
    content[read[0].length - 1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert Inputs([Source(path)], Columns()).first_changed(read) == path
