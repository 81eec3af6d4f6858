from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny
from commands import CommandLine
from zerotag.config import ModelConfig


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "original"
    tiny.labeller(config=ModelConfig(encoder="tiny", depth=1, window=32)).save_pretrained(folder)
    return folder


def test_export_and_label(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    said = zerotag.succeeds("export", model, "--to", "onnx", "--int8", "--out", tmp_path / "small")
    assert said.startswith(f"{tmp_path / 'small'}: ONNX, int8, 0.")
    assert f"from those of {model}" in said
    text = "the pump may leak .\n"
    ours = json.loads(zerotag.succeeds("label", tmp_path / "small", stdin=text))
    theirs = json.loads(zerotag.succeeds("label", model, stdin=text))
    assert [word["text"] for word in ours["words"]] == [word["text"] for word in theirs["words"]]
    for one, other in zip(ours["words"], theirs["words"], strict=True):
        assert one["score"] == pytest.approx(other["score"], abs=0.05)
    again = ("export", model, "--to", "onnx", "--out", tmp_path / "small")
    assert zerotag.fails(*again) == f"{tmp_path / 'small'} exists; choose another name or give --overwrite"
    zerotag.succeeds(*again, "--overwrite")
    assert json.loads((tmp_path / "small" / "zerotag.json").read_text())["export"]["precision"] == "fp32"
    twice = zerotag.fails("export", tmp_path / "small", "--to", "onnx", "--out", tmp_path / "twice")
    assert twice.startswith(f"{tmp_path / 'small'} was exported for ONNX Runtime and cannot run in torch")


def test_what_cannot_be_exported(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert zerotag.fails("export", model, "--to", "tflite", "--out", out) == "cannot export to 'tflite'; allowed: onnx"
    assert "is not a folder" in zerotag.fails("export", tmp_path / "none", "--to", "onnx", "--out", out)
    assert "Missing option '--to'" in zerotag.fails("export", model, "--out", out)
    (out / "thesis").mkdir(parents=True)
    given = ("export", model, "--to", "onnx", "--out", out, "--overwrite")
    assert zerotag.fails(*given) == f"{out} exists and is not a zerotag model: choose another folder"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_model_is_not_replaced_by_its_export(
    zerotag: CommandLine, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.read_bytes() for path in model.iterdir()}
    monkeypatch.chdir(model.parent)
    line = zerotag.fails("export", model, "--to", "onnx", "--out", model.name, "--overwrite")
    assert line == f"{model.name} is the model that is exported, which --out would replace: choose another folder"
    assert {path: path.read_bytes() for path in model.iterdir()} == before
