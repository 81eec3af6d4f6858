"""Folders that name code to run: nothing of it runs, standard input is not read, and one line says why."""

from __future__ import annotations

import io
import json
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from drills.folder_mutations import reseal

import tiny
from commands import COMMAND, ENVIRONMENT, Outcome, error_line
from zerotag.cli import main
from zerotag.config import ModelConfig
from zerotag.errors import ZerotagError
from zerotag.inference.onnx_export import export
from zerotag.modeling.encoders import load_encoder

MODULE = """
from pathlib import Path
Path({mark!r}).write_text("it ran")
from transformers import BertConfig, BertModel, BertTokenizer
class Config(BertConfig): model_type = "planted"
class Model(BertModel): config_class = Config
class Tokenizer(BertTokenizer): pass
class Processor: pass
"""
AUTO_MAP = {
    "AutoConfig": "planted.Config",
    "AutoModel": "planted.Model",
    "AutoTokenizer": ["planted.Tokenizer", "planted.Tokenizer"],
    "AutoProcessor": "planted.Processor",
}


class Unread(io.TextIOBase):
    """Standard input that says yes to all, and tells if anybody asks."""

    asked = False

    def readline(self, *_: object) -> str:  # type: ignore[override]
        Unread.asked = True
        return "yes\n"

    read = readline


def edit(file: Path, **values: Any) -> None:
    document = json.loads(file.read_text())
    inner = document["encoder"] if document.get("model_type") == "zerotag" else document
    inner.update(values)
    file.write_text(json.dumps(document))


def of_an_earlier_format(folder: Path) -> None:
    """As zerotag wrote them before: config.json is the encoder's own, and there is no seal."""
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text())["encoder"]))
    manifest = json.loads((folder / "zerotag.json").read_text()) | {"format": 1}
    del manifest["seal"]
    (folder / "zerotag.json").write_text(json.dumps(manifest))


def listed(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)
    manifest = json.loads((folder / "zerotag.json").read_text())
    manifest["sha256"][name] = ""
    (folder / "zerotag.json").write_text(json.dumps(manifest))


def earlier_config(folder: Path) -> None:
    of_an_earlier_format(folder)
    edit(folder / "config.json", model_type="planted", auto_map=AUTO_MAP)


PLANTED: dict[str, tuple[Callable[[Path], object], str]] = {
    "an unknown configuration": (
        lambda folder: edit(folder / "config.json", model_type="planted", auto_map=AUTO_MAP),
        "auto_map is not allowed there: loading a model runs no code",
    ),
    "an unknown configuration, as format 1 has it": (earlier_config, "auto_map is not allowed there"),
    "a known configuration": (
        lambda folder: edit(folder / "config.json", auto_map=AUTO_MAP),
        "auto_map is not allowed",
    ),
    "an unknown type": (
        lambda folder: edit(folder / "config.json", model_type="planted"),
        "model_type 'planted' is not a text encoder of the installed transformers",
    ),
    "a tokenizer": (
        lambda folder: edit(folder / "tokenizer_config.json", auto_map=AUTO_MAP, tokenizer_class="Tokenizer"),
        "tokenizer_config.json: auto_map is not allowed there",
    ),
    "a processor": (
        lambda folder: listed(folder, "processor_config.json", json.dumps({"auto_map": AUTO_MAP})),
        "sha256 has 'processor_config.json', which is none of a model's files",
    ),
    "a listed module": (
        lambda folder: listed(folder, "planted.py", (folder / "planted.py").read_text()),
        "sha256 has 'planted.py', which is none of a model's files",
    ),
    "a hub's kernel": (
        lambda folder: edit(folder / "config.json", attn_implementation="someone/kernel"),
        "attn_implementation is not allowed there",
    ),
    "a hub's kernel by its inner name": (
        lambda folder: edit(folder / "config.json", _attn_implementation="someone/kernel"),
        "_attn_implementation is not allowed there",
    ),
    "a hub's kernel within": (
        lambda folder: edit(folder / "config.json", text_config={"attn_implementation": "someone/kernel"}),
        "attn_implementation is not allowed there",
    ),
    "nothing but an unlisted module": (lambda _: None, "planted.py does not belong to the model"),
}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "model"
    tiny.labeller().save_pretrained(folder)
    return folder


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that appears if planted code runs; whatever fetches a kernel would bring it about, too."""
    mark = tmp_path / "ran"

    def fetch(*_: object, **__: object) -> NoReturn:
        mark.write_text("a kernel was fetched")
        raise AssertionError

    monkeypatch.setattr("transformers.modeling_utils.lazy_import_flash_attention", fetch)
    monkeypatch.setattr("sys.stdin", Unread())
    monkeypatch.setattr(Unread, "asked", False)
    return mark


@pytest.fixture
def model(pristine: Path, tmp_path: Path, mark: Path) -> Path:
    folder = Path(shutil.copytree(pristine, tmp_path / "model"))
    (folder / "planted.py").write_text(MODULE.format(mark=str(mark)))
    return folder


def plant(model: Path, what: str) -> str:
    """Plant code in a folder whose digests fit; returns what is to be said of it."""
    change, message = PLANTED[what]
    change(model)
    if what != "nothing but an unlisted module" and what != "a listed module":
        (model / "planted.py").rename(model.parent / "planted.py")  # nor is it found where the command runs
    reseal(model)
    return message


@pytest.mark.parametrize("what", PLANTED)
def test_a_model_folder_runs_nothing(
    model: Path, mark: Path, what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    message = plant(model, what)
    monkeypatch.chdir(model.parent)
    source = model.parent / "in.txt"
    source.write_text("the pump may leak\n")
    monkeypatch.setattr("sys.argv", ["zerotag", "label", str(model), str(source)])
    with pytest.raises(SystemExit) as leave:
        main()
    said = error_line(Outcome(int(leave.value.code or 0), *capsys.readouterr()))
    assert message in said
    assert not mark.exists()
    assert not Unread.asked


def test_yes_on_standard_input_permits_nothing(model: Path, mark: Path) -> None:
    """As a shell does it: the texts that are piped in were once taken for the answer to a question."""
    plant(model, "an unknown configuration, as format 1 has it")
    done = subprocess.run(
        [*COMMAND, "label", str(model)],
        env=ENVIRONMENT,
        cwd=model.parent,
        input="yes\n" * 100,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert "auto_map is not allowed" in error_line(Outcome(done.returncode, done.stdout, done.stderr))
    assert done.stdout == ""
    assert not mark.exists()


# Encoders to start a training from


@pytest.fixture
def encoder(tmp_path: Path, mark: Path) -> Path:
    folder = tiny.encoder_folder(tmp_path / "encoder")
    (folder / "planted.py").write_text(MODULE.format(mark=str(mark)))
    return folder


def refusal(encoder: Path) -> str:
    with pytest.raises(ZerotagError) as caught:
        load_encoder(ModelConfig(encoder=str(encoder)))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_encoder_of_an_unknown_type_is_refused(encoder: Path, mark: Path) -> None:
    edit(encoder / "config.json", model_type="planted", auto_map=AUTO_MAP)
    assert "model_type 'planted' is not a text encoder" in refusal(encoder)
    assert not mark.exists()
    assert not Unread.asked


def test_of_an_encoder_that_transformers_knows_its_own_code_is_left_alone(encoder: Path, mark: Path) -> None:
    plain, _ = load_encoder(ModelConfig(encoder=str(encoder)))
    edit(encoder / "config.json", auto_map=AUTO_MAP, attn_implementation="someone/kernel")
    edit(encoder / "tokenizer_config.json", auto_map=AUTO_MAP)
    (encoder / "processor_config.json").write_text(json.dumps({"auto_map": AUTO_MAP}))
    loaded, tokenizer = load_encoder(ModelConfig(encoder=str(encoder)))
    assert type(loaded) is type(plain)
    assert type(tokenizer).__module__.startswith("transformers.")
    assert "auto_map" not in loaded.config.to_dict()
    ids = {"input_ids": torch.tensor([[2, 7, 3]])}
    assert torch.equal(loaded.eval()(**ids).last_hidden_state, plain.eval()(**ids).last_hidden_state)
    assert not mark.exists()
    assert not Unread.asked


class Planted:
    """What touches a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


def test_pickled_weights_are_never_opened(encoder: Path, mark: Path) -> None:
    (encoder / "model.safetensors").unlink()
    (encoder / "pytorch_model.bin").write_bytes(pickle.dumps(Planted(mark)))
    assert "is not an encoder folder that can be loaded" in refusal(encoder)
    assert not mark.exists()


def test_more_layers_than_any_encoder_has_are_refused_at_once(encoder: Path) -> None:
    edit(encoder / "config.json", num_hidden_layers=100_000)
    assert "num_hidden_layers 100000 is out of range; allowed: up to 10000" in refusal(encoder)
    edit(encoder / "config.json", num_hidden_layers=10_000)
    assert "the network has more than 20000 parameters" in refusal(encoder)


@pytest.mark.parametrize("exported", [False, True])
def test_a_pipeline_of_transformers_refuses_the_folder(tmp_path: Path, exported: bool) -> None:
    """It would put a head with random weights on top."""
    if exported:
        export(tiny.labeller(), tmp_path / "model")
    else:
        tiny.labeller().save_pretrained(tmp_path / "model")
    # In a process of its own: here another test may have registered the folders (zerotag.integrations.transformers).
    code = f"import transformers; transformers.pipeline('token-classification', {str(tmp_path / 'model')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(r"^(ValueError|OSError): ", done.stderr, re.MULTILINE)
