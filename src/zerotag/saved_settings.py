"""Settings as they were saved or typed, also under names that they had before."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from zerotag.config import PACKAGED_ENCODER, ModelConfig, TrainConfig
from zerotag.errors import ZerotagError

C = TypeVar("C", ModelConfig, TrainConfig)


def from_dict(kind: type[C], values: dict[str, Any]) -> C:
    """A configuration from values by name; unknown names are refused."""
    values = _renamed_model(values) if kind is ModelConfig else _renamed_training(values)
    known = [field.name for field in fields(kind)]
    for name in values:
        if name not in known:
            raise ZerotagError(f"unknown setting {name!r}; there are: {', '.join(known)}")
    return kind(**values)


_TOKENIZATIONS = {
    (False, False, False): "text",
    (True, False, False): "lone-words",
    (False, True, False): "attend-to-end",
    (True, True, True): "reference",
}


def _renamed_model(values: dict[str, Any]) -> dict[str, Any]:
    """Settings of a model as they are called now, in model folders and experiments from before they were renamed."""
    left = dict(values)
    flags = tuple(left.pop(name, False) is True for name in ("lone_words", "attend_to_end", "truncate"))
    vectors = left.pop("vectors", None)
    encoder = left.get("encoder", PACKAGED_ENCODER)
    if left.keys() == values.keys():
        return left
    if flags not in _TOKENIZATIONS:
        raise ZerotagError("lone_words, attend_to_end and truncate go alone or all three together: see tokenization")
    if vectors is not None and encoder != "bilstm":
        raise ZerotagError(f"vectors {vectors!r} is out of range; allowed: none, but for encoder 'bilstm'")
    if vectors is not None:
        left["encoder"] = f"{encoder}:{vectors}"
    if any(flags) or "tokenization" not in left:
        left["tokenization"] = "words" if encoder == "bilstm" else _TOKENIZATIONS[flags]
    return left


def _renamed_training(values: dict[str, Any]) -> dict[str, Any]:
    """The same for settings of a training."""
    left = dict(values)
    if left.pop("warmup_unit", "steps") == "sentences":
        left["warmup"] = left.get("warmup", 0.1) * (left.get("batch_size") or 16)
    return left
