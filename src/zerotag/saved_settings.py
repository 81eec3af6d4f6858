"""Settings as they were saved or typed, also under names that they had before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from zerotag.config import PACKAGED_ENCODER, ModelConfig, TrainConfig, require_type
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


def typed(name: str, kind: Any, value: Any) -> Any:
    """A value of a JSON document as its type says: lists become tuples, objects become dataclasses.

    Raises:
        ZerotagError: it is of another type, or something in it is.
    """
    if isinstance(kind, UnionType):  # something or None
        return None if value is None else typed(name, get_args(kind)[0], value)
    if get_origin(kind) is tuple:
        require_type(name, list, value)
        return tuple(typed(name, get_args(kind)[0], one) for one in value)
    if get_origin(kind) is Mapping:
        require_type(name, dict, value)
        return {key: typed(name, get_args(kind)[1], one) for key, one in value.items()}
    if is_dataclass(kind):
        require_type(name, dict, value)
        kinds = get_type_hints(kind)
        make: Any = kind
        return make(**{key: typed(key, kinds[key], one) if key in kinds else one for key, one in value.items()})
    if issubclass(kind, tuple):  # with names
        require_type(name, list, value)
        return kind(*(typed(name, *pair) for pair in zip(get_type_hints(kind).values(), value, strict=True)))
    require_type(name, kind, value)
    return value


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
