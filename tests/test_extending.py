"""The examples of docs/extending.md, as a package beside zerotag that brings plug-ins."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny
import toy
import zerotag
from commands import CommandLine
from zerotag import registry
from zerotag.config import ModelConfig, TrainConfig
from zerotag.text.segmentation import SEGMENTERS

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r'^```\w+ title="([\w/.]+)"\n(.*?)^```', PAGE, flags=re.DOTALL | re.MULTILINE))
ENTRY_POINTS = tomllib.loads(BLOCKS["pyproject.toml"])["project"]["entry-points"]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package of the page, installed."""
    for name, code in BLOCKS.items():
        if name.endswith(".py"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(code, encoding="utf-8")
    meta = tmp_path / "my_package-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items())
        for group, entries in ENTRY_POINTS.items()
    )
    (meta / "entry_points.txt").write_text("\n".join(groups))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    registry.plugins.cache_clear()
    tiny.labeller().save_pretrained(tmp_path / "model")
    yield tmp_path
    registry.plugins.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_package"]:
        del sys.modules[name]


def test_each_example_is_short() -> None:
    for name, code in BLOCKS.items():
        lines = [line for line in code.splitlines() if line.strip() and not line.startswith(("import ", "from "))]
        assert len(lines) <= 25, name


@pytest.mark.usefixtures("package")
def test_a_scorer(capsys: pytest.CaptureFixture[str]) -> None:
    result = zerotag.load("model").label("The pump may fail.", method="lexicon")
    assert [word.score for word in result.words] == [0, 0, 1, 0, 0]
    assert [span.text for span in result.spans] == ["may"]
    Path("new.txt").write_text("It may rain.\n", encoding="utf-8")
    printed = CommandLine(capsys).succeeds("label", "model", "new.txt", "--method", "lexicon", "--format", "jsonl")
    assert [word["score"] for word in json.loads(printed)["words"]] == [0, 1, 0, 0]


def test_a_reader(package: Path) -> None:
    (package / "rain.fasttext").write_text("__label__hedge It may rain.\n\nIt rained.\n", encoding="utf-8")
    corpus = zerotag.read("rain.fasttext")
    assert corpus.label_names == ("hedge",)
    assert [(one.sentence.text, one.labels) for one in corpus.examples] == [
        ("It may rain.", (True,)),
        ("It rained.", (False,)),
    ]


def test_a_writer(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (package / "new.txt").write_text("It may rain.\nIt rained.\n", encoding="utf-8")
    CommandLine(capsys).succeeds("label", "model", "new.txt", "--method", "lexicon", "--out", "marked.md")
    assert (package / "marked.md").read_text(encoding="utf-8") == "- It **may** rain .\n- It rained .\n"


@pytest.mark.usefixtures("package")
def test_a_segmenter() -> None:
    sentence = SEGMENTERS.get("han")("下雨, maybe?")
    assert sentence.words == ("下", "雨", ",", "maybe", "?")
    assert [sentence.text[start:end] for start, end in sentence.spans] == [*sentence.words]


@pytest.mark.parametrize("model", [{"head": "max-pooling", "depth": 1}, {"encoder": "embeddings:32"}], ids=str)
def test_a_head_and_an_encoder(model: dict[str, Any], package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They learn, they are saved and loaded by name, and a folder whose plug-in is not installed says so."""
    model = {"encoder": str(tiny.encoder_folder(package / "encoder")), **model}
    settings = TrainConfig(epochs=5, teacher_epochs=0, batch_size=8, learning_rate=2e-2)
    trained = zerotag.train(toy.corpus(120), model=ModelConfig(**model), training=settings, progress=False)
    trained.save_pretrained("trained")
    words = zerotag.load("trained").label("the pump may run perhaps .").words
    assert [word.text for word in words if word.label] == ["may", "perhaps"]
    (package / "my_package-1.0.dist-info" / "entry_points.txt").write_text("")
    registry.plugins.cache_clear()
    Path("new.txt").write_text("It may rain.\n", encoding="utf-8")
    refused = CommandLine(capsys)("label", "trained", "new.txt")
    assert refused.code == 2
    assert "max-pooling" in refused.err or "embeddings" in refused.err
    assert refused.err.count("\n") == 1


def test_every_registry_is_on_the_page() -> None:
    groups = {group.removeprefix("zerotag.") for group in ENTRY_POINTS}
    assert groups == set(re.findall(r"^\| (\w+) \| `zerotag\.", PAGE, flags=re.MULTILINE))
