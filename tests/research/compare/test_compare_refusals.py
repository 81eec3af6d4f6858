"""What a comparison looks for before anything runs, and refuses if it is not there."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from zerotag.errors import ZerotagError
from zerotag.research.compare.comparison import compare
from zerotag.research.compare.record import read_record
from zerotag.research.compare.results import run_path


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"jobs": 0}, "jobs 0 is out of range"),
        ({"only": "fce.*"}, r"no run of .* matches 'fce\.\*'; their names are like smoke-corpus\.random-baseline\.1"),
    ],
)
def test_bad_arguments(small: Path, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ZerotagError, match=complaint):
        compare(small, **settings)


@pytest.mark.parametrize(
    ("corpus", "complaint"),
    [
        (
            "elsewhere",
            "corpus 'elsewhere' is neither one of fce, bea2019, conll2010, toxic, sst, movies "
            "nor a folder beside the TOML",
        ),
        ("fce", "corpus 'fce' is not in the package: give the folder that holds fce/ with --data"),
    ],
)
def test_missing_corpora(small: Path, monkeypatch: pytest.MonkeyPatch, corpus: str, complaint: str) -> None:
    monkeypatch.delenv("ZEROTAG_DATA", raising=False)
    small.write_text(small.read_text().replace("smoke-corpus", corpus))
    with pytest.raises(ZerotagError, match=complaint):
        compare(small)


def test_a_folder_without_the_corpus_is_refused_before_anything_runs(small: Path, tmp_path: Path) -> None:
    small.write_text(small.read_text().replace("smoke-corpus", "fce"))
    complaint = f"{tmp_path / 'fce'}: no such folder; give the folder that holds fce/ with --data"
    with pytest.raises(ZerotagError, match=f"^{re.escape(complaint)}$"):
        compare(small, data=tmp_path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_encoder_that_is_nowhere_is_refused_before_anything_runs(small: Path) -> None:
    """Runs that do not need it are made all the same, if asked for."""
    small.write_text(small.read_text() + '[trainings.lost.model]\nencoder = "lost"\n' + LOST)
    with pytest.raises(ZerotagError) as caught:
        compare(small, out=small.parent / "out")
    assert str(caught.value).startswith(f"{small}: encoder 'lost' is not a folder")
    assert "ZEROTAG_ENCODERS" in str(caught.value)
    assert not (small.parent / "out").exists()
    assert [run.name for run in compare(small, only="*.soft-attention.*").done] == ["smoke-corpus.soft-attention.1"]


LOST = """
[[methods]]
name = "Lost"
training = "lost"
"""


def test_an_encoder_may_be_in_the_folder_of_encoders(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (small.parent / "encoders").mkdir()
    (small.parent / "smoke-encoder").rename(small.parent / "encoders" / "smoke-encoder")
    monkeypatch.setenv("ZEROTAG_ENCODERS", str(small.parent / "encoders"))
    assert [run.name for run in compare(small, only="*.soft-attention.*").done] == ["smoke-corpus.soft-attention.1"]


BILSTM = """
[trainings.bilstm]
preset = "bilstm"
model = { encoder = "bilstm:glove.txt" }
training = { epochs = 1 }

[[methods]]
name = "BiLSTM"
training = "bilstm"
"""


def test_word_vectors_are_looked_for_beside_the_toml(
    small: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything runs; and runs that were made with others are refused."""
    small.write_text(small.read_text() + BILSTM)
    glove = small.parent / "glove.txt"
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(ZerotagError, match=r"small\.toml: vectors .glove\.txt. are not a file; .*/glove\.txt was"):
        compare(small, only="*.bilstm.1")
    glove.write_text("the 1 2 3\npump 0 1 0\n")
    (run,) = compare(small, only="*.bilstm.1").done
    record = read_record(run_path(small.with_suffix(""), run))
    assert record.settings["model"]["encoder"] == "bilstm:glove.txt"
    assert record.training is not None
    assert record.training.model["encoder"] == "bilstm:glove.txt"  # not where it happened to be
    glove.write_text("the 3 2 1\npump 0 1 0\n")
    with pytest.raises(ZerotagError, match=r"bilstm\.1\.json was made with vectors_sha256 '"):
        compare(small, only="*.bilstm.1")
    glove.unlink()
    assert compare(small, only="*.bilstm.1").done == (run,)  # tables can be drawn without them


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("test.tsv", "pump\n", "test.tsv:1: 'pump' has no label"),
        ("dev.tsv", None, "dev.tsv: no such file"),
    ],
)
def test_every_corpus_is_read_before_anything_is_trained(
    small: Path, file: str, text: str | None, complaint: str
) -> None:
    bad = shutil.copytree(small.parent / "smoke-corpus", small.parent / "bad-corpus")
    (bad / file).unlink() if text is None else (bad / file).write_text(text)
    small.write_text(small.read_text().replace('["smoke-corpus"]', '["smoke-corpus", "bad-corpus"]'))
    with pytest.raises(ZerotagError, match=complaint):
        compare(small)
    assert not small.with_suffix("").exists()
