"""Shards of files: whole blocks, so that what each holds is what a single run holds there."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulk_runs import inputs, packed
from file_formats import FORMATS
from source_files import write
from zerotag.bulk import blocks
from zerotag.bulk.inputs import BEGINNING, Chunk, Cursor, Inputs, Part
from zerotag.bulk.shards.cutting import check_unchanged, cut
from zerotag.bulk.shards.plan import Shard
from zerotag.errors import ZerotagError
from zerotag.io import Columns, Source

AT_ONCE = 3
_CURE = "plan anew, into another folder"
_TEXTS = st.lists(
    st.lists(st.text("añ字😀", min_size=1, max_size=9), min_size=1, max_size=5).map(" ".join), max_size=30
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_SMALLEST_STRIDE", 64)
    monkeypatch.setattr(blocks, "_STRIDE", 1)


def part(paths: list[Path], shard: Shard) -> Inputs:
    sizes = tuple(path.stat().st_size for path in paths)
    return Inputs([Source(path) for path in paths], Columns(), Part(shard.start, shard.end, shard.ranges, sizes))


def plain(chunk: Chunk) -> tuple[object, ...]:
    return chunk.sentences, chunk.origins, chunk.rejected, len(chunk.pieces)


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("suffix", FORMATS)
@settings(max_examples=25)
@given(files=st.lists(_TEXTS, min_size=1, max_size=4).filter(any), shards=st.integers(1, 9))
def test_the_chunks_of_all_shards_are_those_of_a_single_run(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, packing: str, files: list[list[str]], shards: int
) -> None:
    folder = tmp_path_factory.mktemp("in")
    paths = [
        write(folder, f"{number}{suffix}{packing}", packed(FORMATS[suffix](texts), packing))
        for number, texts in enumerate(files)
    ]
    whole = inputs(*paths)
    made = cut(whole, AT_ONCE, shards)
    assert len(made) <= shards
    assert made[0].start == BEGINNING
    assert made[-1].end == Cursor(len(paths))
    assert all(before.end == after.start for before, after in pairwise(made))
    assert sum(shard.bytes for shard in made) == sum(path.stat().st_size for path in paths)
    of_shards = [
        chunk for shard in made for chunk in part(paths, shard).chunks(shard.start, AT_ONCE) if any(plain(chunk)[:3])
    ]
    single = [chunk for chunk in whole.chunks(BEGINNING, AT_ONCE) if any(plain(chunk)[:3])]
    assert list(map(plain, of_shards)) == list(map(plain, single))


def test_shards_are_of_about_the_same_size(tmp_path: Path) -> None:
    draw = random.Random(0)
    paths = [
        write(tmp_path, f"{number}.txt", "".join(f"{draw.randbytes(9).hex()} {i}\n" for i in range(lines)))
        for number, lines in enumerate((2_000, 10, 10, 900))
    ]
    made = cut(inputs(*paths), AT_ONCE, 16)
    mean = sum(shard.bytes for shard in made) / 16
    assert len(made) == 16
    assert all(shard.bytes == pytest.approx(mean, abs=150) for shard in made)
    assert any(len(shard.ranges) > 1 for shard in made)  # small files go together


def test_a_long_line_is_in_one_shard(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "one\n" * 20 + "long " * 500 + "\n" + "two\n" * 20)
    made = cut(inputs(path), AT_ONCE, 100)
    lines = [len(sentences) for shard in made if (sentences := [*_sentences(path, shard)])]
    assert sum(lines) == 41
    assert path.read_bytes()[: made[-1].start.position.offset].count(b"\n") == made[-1].start.position.line


def _sentences(path: Path, shard: Shard) -> list[str]:
    chunks = part([path], shard).chunks(shard.start, AT_ONCE)
    return [sentence.text for chunk in chunks for sentence in chunk.sentences]


@pytest.mark.parametrize("at", [0, 300, 999])
def test_an_input_that_has_changed_is_refused(tmp_path: Path, at: int) -> None:
    path = write(tmp_path, "a.txt", "one\n" * 250)
    made = cut(inputs(path), AT_ONCE, 5)
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    refused = [_refused(path, shard) for shard in made]
    assert any(refused)
    assert all(reason in ("", f"{path} has changed since the plan was made: {_CURE}") for reason in refused)


def _refused(path: Path, shard: Shard) -> str:
    try:
        check_unchanged(part([path], shard), shard)
    except ZerotagError as error:
        return str(error)
    return ""


def test_how_far_a_shard_is(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "some words\n" * 50_000)
    made = cut(inputs(path), 2_000, 2)
    second = part([path], made[1])
    shares = []
    for _ in second.chunks(made[1].start, 2_000):
        assert second.share_read is not None
        shares.append(second.share_read)
    expected = [(i + 1) / len(shares) for i in range(len(shares))]
    assert shares == pytest.approx(expected, abs=0.3)  # reading is ahead by a buffer
    assert shares == sorted(shares)
    assert shares[-1] == 1
