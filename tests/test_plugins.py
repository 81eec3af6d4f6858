"""What another package adds by entry points appears in the library and in commands, and nothing there knows it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import plugin_package
import tiny
import toy
import zerotag
from commands import COMMAND, ENVIRONMENT
from zerotag import registry
from zerotag.config import ModelConfig, TrainConfig
from zerotag.labeller import WordLabeller

TEXT = "The PUMP may FAIL in winter"


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the package, which this process can import."""
    folder = plugin_package.install(tmp_path / "site")
    monkeypatch.syspath_prepend(folder)
    registry.plugins.cache_clear()
    yield folder
    registry.plugins.cache_clear()
    sys.modules.pop("loud", None)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    tiny.labeller().save_pretrained(folder)
    return folder


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    paths = f"{folder}{os.pathsep}{ENVIRONMENT['PYTHONPATH']}"
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**ENVIRONMENT, "PYTHONPATH": paths, "COLUMNS": "300"}, check=False
    )


def test_a_command_reads_scores_and_writes_by_plugins(plugins: Path, model: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "texts.arrows", tmp_path / "texts.shout"
    source.write_text("the pUMP may fail => yes\n\nit RAINS => no\n", encoding="utf-8")
    done = run(plugins, "label", model, source, "--method", "loudness", "--out", out, "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert out.read_text() == "the PUMP may fail\nit RAINS\n"


def test_help_and_errors_name_plugins(plugins: Path, model: Path, tmp_path: Path) -> None:
    told = run(plugins, "label", "--help").stdout
    assert all(name in told for name in ("loudness", "arrows", "shout"))
    told = run(plugins, "train", "--help").stdout
    assert all(name in told for name in ("letters", "strongest"))
    refused = run(plugins, "label", model, write(tmp_path / "a.txt", TEXT), "--method", "broken")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: scorer 'broken' of package loud cannot be imported (")


def test_a_model_keeps_the_name_of_its_segmenter(plugins: Path, tmp_path: Path) -> None:
    encoder = tiny.encoder_folder(tmp_path / "encoder")
    texts = [f"{'ab' if one.labels[0] else 'cd'} {one.sentence.text}" for one in toy.corpus(20).examples]
    labels = [one.labels[0] for one in toy.corpus(20).examples]
    trained = zerotag.train(
        texts,
        labels,
        encoder=encoder,
        segmenter="letters",
        training=TrainConfig(epochs=1, teacher_epochs=0, teachers=1),
        progress=False,
    )
    trained.save_pretrained(tmp_path / "saved")
    loaded = zerotag.load(tmp_path / "saved")
    assert [word.text for word in loaded.label("may I").words] == ["m", "a", "y", "I"]
    told = run(plugins, "label", tmp_path / "saved", "--format", "tsv", write(tmp_path / "a.txt", "may I")).stdout
    assert [line.split("\t")[0] for line in told.splitlines() if line] == ["m", "a", "y", "I"]
    without = run(tmp_path, "label", tmp_path / "saved", tmp_path / "a.txt")
    assert without.returncode == 2
    assert without.stderr.startswith("error: unknown segmenter 'letters'; there are: standard, unicode, whitespace, ")


def test_a_head_is_trained_saved_and_missed(plugins: Path, tmp_path: Path) -> None:
    encoder = tiny.encoder_folder(tmp_path / "encoder")
    trained = zerotag.train(
        toy.corpus(20),
        encoder=encoder,
        model=ModelConfig(head="strongest"),
        training=TrainConfig(epochs=1, teacher_epochs=1, teachers=1),
        progress=False,
    )
    trained.save_pretrained(tmp_path / "saved")
    loaded = zerotag.load(tmp_path / "saved")
    result = loaded.label("the pump may leak")
    assert result.score == pytest.approx(max(word.score for word in result.words), abs=1e-6)
    without = run(tmp_path, "label", tmp_path / "saved", write(tmp_path / "a.txt", "may I"))
    assert without.returncode == 2
    assert "head 'strongest' is out of range; allowed: soft-attention or cls" in without.stderr
    assert len(without.stderr.splitlines()) == 1
    assert plugins.is_dir()


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_words_between_white_space_are_a_choice() -> None:
    spoken = tiny.labeller()
    manifest = replace(spoken.manifest, model=ModelConfig(encoder="tiny", depth=2, window=32, segmenter="whitespace"))
    labeller = WordLabeller(spoken.network, spoken.tokenizer, manifest)
    assert [word.text for word in labeller.label("It's  so-so , no?").words] == ["It's", "so-so", ",", "no?"]
    assert [word.text for word in spoken.label("It's so-so, no?").words] == ["It's", "so-so", ",", "no", "?"]
