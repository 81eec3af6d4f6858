"""What makes a model folder whole: the files that loaders read, each listed with its SHA-256, and none beside them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from zerotag.errors import ZerotagError
from zerotag.io.checked_files import open_regular

WEIGHTS = "model.safetensors"
SHAPE = "config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_SETTINGS = "tokenizer_config.json"
ENCODER = "encoder.onnx"  # (input_ids, attention_mask) (W, L) -> encoded (W, L, H)
HEAD = "head.onnx"  # tokens (S, T, H), token_mask (S, T), or first (S, H) -> sentence_scores, token_scores
LARGEST_TOKENIZER = 2**28  # bytes; that of 250,000 sub-words has 2**24
DAMAGED = "the model folder is damaged, copy it again"

_TORCH_FILES = frozenset({WEIGHTS, SHAPE, TOKENIZER, TOKENIZER_SETTINGS})
_ONNX_FILES = frozenset({ENCODER, HEAD, TOKENIZER})
# What a tokenizer brings along without being asked, and what ONNX writes beside a graph of more than 2 GB.
_ALSO_WRITTEN = frozenset({"chat_template.jinja", f"{ENCODER}.data", f"{HEAD}.data"})

# What loaders of model folders, ours or other people's, read by its mere presence.
_READ_BY_LOADERS = (
    *("*.safetensors", "*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle", "*.h5", "*.msgpack", "*.gguf"),
    *("*.onnx", "*.onnx.data", "*.onnx_data", "*.py", "*.so", "*.model", "*.jinja", "*config.json", "*.index.json"),
    *("tokenizer*.json", "special_tokens_map.json", "added_tokens.json", "chat_template.json"),
    *("vocab.json", "vocab.txt", "merges.txt"),
)


def digest(file: Path) -> str:
    """The SHA-256 of a regular file."""
    with open_regular(file) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def seal(document: Mapping[str, Any]) -> str:
    """The SHA-256 of all that a manifest says, but for the seal itself."""
    content = json.dumps({name: value for name, value in document.items() if name != "seal"}, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def check_files(folder: Path, digests: object, *, exported: bool) -> None:
    """Refuse a folder in which a listed file is missing or different, or an unlisted one might be read."""
    listed = _listed(digests, _ONNX_FILES if exported else _TORCH_FILES)
    for name, expected in listed.items():
        try:
            found = digest(folder / name)
        except PermissionError as error:
            raise ZerotagError(f"{folder / name} cannot be read: {error.strerror}") from error
        except OSError as error:
            raise ZerotagError(f"{folder / name} cannot be read ({error.strerror}): {DAMAGED}") from error
        if found != expected:
            raise ZerotagError(f"{folder / name} is not what was written there (another SHA-256): {DAMAGED}")
    for file in sorted(folder.iterdir()):
        if file.name not in listed and any(fnmatch(file.name.lower(), pattern) for pattern in _READ_BY_LOADERS):
            raise ZerotagError(f"{file} does not belong to the model (zerotag.json does not list it): remove it")


def _listed(digests: object, needed: frozenset[str]) -> dict[str, str]:
    if not isinstance(digests, dict):
        raise ValueError(f"sha256 {digests!r:.80} is out of range; allowed: an object")
    for name, value in digests.items():
        if name not in needed | _ALSO_WRITTEN:
            raise ValueError(f"sha256 has {name!r:.80}, which is none of a model's files")
        if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
            raise ValueError(f"the SHA-256 of {name} is out of range; allowed: 64 hexadecimal digits")
    for name in sorted(needed - digests.keys()):
        raise ValueError(f"sha256 has no {name}")
    return digests


@contextmanager
def loading(folder: Path, cure: str = DAMAGED) -> Iterator[None]:
    """Say in one line that a model folder cannot be loaded, and why, whatever its values come upon in libraries."""
    try:
        yield
    except MemoryError:
        raise
    except BaseException as error:
        # A panic within tokenizers is not even an Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = " ".join(str(error).split())[:160]
        kind = (
            "" if isinstance(error, ZerotagError | OSError | ValueError | RuntimeError) else type(error).__name__ + " "
        )
        raise ZerotagError(f"{folder} cannot be loaded ({kind}{reason}): {cure}") from error
