"""The converters on the real releases, where ZEROTAG_DATA says they are."""

import os
from pathlib import Path

import pytest

from zerotag.research.corpora import CORPORA, convert


@pytest.fixture
def releases() -> Path:
    """The folder with the real corpora, which only those who may use them have."""
    folder = os.environ.get("ZEROTAG_DATA")
    if not folder:
        pytest.skip("ZEROTAG_DATA names no folder with fce/, bea2019/ and conll2010/")
    return Path(folder)


@pytest.mark.parametrize("name", CORPORA)
def test_the_real_release_converts(releases: Path, tmp_path: Path, name: str) -> None:
    conversion = convert(name, releases / name, tmp_path / name)
    assert conversion.counts == CORPORA[name].FACTS.expected


def test_real_fce_comes_out_as_it_went_in(releases: Path, tmp_path: Path) -> None:
    convert("fce", releases / "fce", tmp_path / "fce")
    for split in ("train", "dev", "test"):
        released = releases / "fce" / f"fce-public.{split}.original.tsv"
        assert (tmp_path / "fce" / f"{split}.tsv").read_bytes() == released.read_bytes()


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_real_conll_agrees_with_the_paper_s_files_in_every_sentence(releases: Path, split: str) -> None:
    path = releases / "conll2010" / f"conll10_task2_rev2.cue.{split}.tsv"
    blocks = path.read_text(encoding="utf-8").removesuffix("\n\n").split("\n\n")
    wanted = [tuple(tuple(row.split("\t")) for row in block.split("\n")) for block in blocks]
    got = [
        tuple((word, "C" if positive else "O") for word, positive in sentence)
        for sentence in CORPORA["conll2010"].read_splits(releases / "conll2010")[split]
    ]
    assert len(got) == len(wanted)
    disagreements = [i for i, (ours, theirs) in enumerate(zip(got, wanted, strict=True)) if ours != theirs]
    assert not disagreements, f"{len(disagreements)} of {len(wanted)} sentences differ, the first is {disagreements[0]}"
