"""The network and the tokenizer of a model folder, from files that were checked, without running anything they name."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import PreTrainedConfig, PreTrainedTokenizerFast

from zerotag.errors import ZerotagError
from zerotag.io.checked_files import read_bytes, read_json_object
from zerotag.io.integrity import LARGEST_TOKENIZER, SHAPE, TOKENIZER, TOKENIZER_SETTINGS, WEIGHTS, loading
from zerotag.io.model_folder import Manifest
from zerotag.modeling.encoder_config import RUNS_CODE, saved_config
from zerotag.modeling.encoders import aligner_for, empty_encoder, position_limit, registered
from zerotag.modeling.network import Network, TensorBatch
from zerotag.text.alignment import Aligner
from zerotag.text.batches import Batch
from zerotag.text.probe import probe
from zerotag.types import FloatArray

MODEL_TYPE = "zerotag"
"""The type of a model folder's config.json.

Transformers knows no such type and refuses the folder. Were it the encoder's own, a pipeline for token classification
would put a head with random weights on top, and answer nonsense.
"""

_UNREAD = "encoder.pooler."  # which the network has no place for
_SPECIAL_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def write_shape(config: PreTrainedConfig, folder: Path) -> None:
    """Write the shape of an encoder into a model folder."""
    document = {"model_type": MODEL_TYPE, "encoder": json.loads(config.to_json_string())}
    (folder / SHAPE).write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def read_model(folder: Path, manifest: Manifest) -> tuple[Network, PreTrainedTokenizerFast]:
    """The network of a model folder, on the processor, and its tokenizer; both fit each other and the manifest."""
    with loading(folder):
        tokenizer = read_tokenizer(folder)
        network = _read_network(folder, manifest)
        if manifest.model.window > position_limit(network.encoder):
            raise ZerotagError(
                f"window {manifest.model.window} is out of range; allowed: up to {position_limit(network.encoder)}"
            )
        _try(network, aligner_for(manifest.model, tokenizer), len(manifest.label_names))
    return network, tokenizer


def read_shape(folder: Path, encoder: str) -> PreTrainedConfig:
    """The shape of the encoder in a model folder, whose manifest names the encoder."""
    document = read_json_object(folder / SHAPE)
    # Before format 3, the file was the encoder's own.
    shape = document.get("encoder") if document.get("model_type") == MODEL_TYPE else document
    if not isinstance(shape, dict):
        raise ZerotagError(f"{SHAPE} has no encoder")
    spec = registered(encoder)
    return saved_config(shape, None if spec is None else spec.model_type)


def read_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """The tokenizer of a model folder: what its tokenizer.json says, and the names of its special tokens."""
    settings = read_json_object(folder / TOKENIZER_SETTINGS)
    for name in RUNS_CODE:
        if name in settings:
            raise ZerotagError(f"{TOKENIZER_SETTINGS}: {name} is not allowed there: loading a model runs no code")
    tokenizer = Tokenizer.from_buffer(read_bytes(folder / TOKENIZER, LARGEST_TOKENIZER))
    special = {name: _token(name, settings[name]) for name in _SPECIAL_TOKENS if settings.get(name) is not None}
    known = tokenizer.get_vocab()
    for name, token in special.items():
        if token not in known:
            raise ZerotagError(f"{TOKENIZER_SETTINGS}: {name} {token!r} is not in {TOKENIZER}")
    if "pad_token" not in special:
        raise ZerotagError(f"{TOKENIZER_SETTINGS} has no pad_token")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def _token(name: str, value: object) -> str:
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, str):
        raise ZerotagError(f"{TOKENIZER_SETTINGS}: {name} {value!r} is out of range; allowed: a text")
    return content


def _read_network(folder: Path, manifest: Manifest) -> Network:
    """The network with its saved weights, whose shapes are compared before any memory is taken for them."""
    with safe_open(folder / WEIGHTS, "pt") as weights:
        names = [name for name in weights.keys() if not name.startswith(_UNREAD)]  # noqa: SIM118
        saved = {name: tuple(weights.get_slice(name).get_shape()) for name in names}

    def build() -> Network:
        encoder = empty_encoder(read_shape(folder, manifest.model.encoder))
        return Network(encoder, len(manifest.label_names), manifest.model)

    with torch.device("meta"):
        expected = {name: tuple(tensor.shape) for name, tensor in build().state_dict().items()}
    for name in sorted(expected.keys() ^ saved.keys()):
        raise ZerotagError(f"{WEIGHTS} has {'no' if name in expected else 'the unknown'} weights {name}")
    for name, shape in expected.items():
        if saved[name] != shape:
            raise ZerotagError(f"{WEIGHTS} has a size mismatch: {name} is {saved[name]}, by the settings it is {shape}")
    network = build()
    tensors = load_file(folder / WEIGHTS)
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ZerotagError(f"{WEIGHTS} has infinite numbers, or what is none (NaN), in {name}")
    network.load_state_dict(tensors)
    return network.eval()


@torch.inference_mode()
def _try(network: Network, aligner: Aligner, labels: int) -> None:
    def scores(batch: Batch) -> tuple[FloatArray, FloatArray | None]:
        output = network(TensorBatch.of(batch, torch.device("cpu")))
        tokens = output.token_logits
        return output.sentence_logits.numpy(), None if tokens is None else tokens.numpy()

    probe(scores, aligner, labels)
