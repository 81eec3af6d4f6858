"""The shape of an encoder from its config.json, without running anything that the file names.

A configuration is data of strangers. It may name Python modules (`auto_map`), kernels to fetch from a hub
(`attn_implementation`) or a hundred thousand layers; transformers obeys all of these unless it is kept from it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from transformers import CONFIG_MAPPING, PreTrainedConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES

from zerotag.errors import ZerotagError

RUNS_CODE = (
    "auto_map",
    "custom_pipelines",
    "attn_implementation",
    "_attn_implementation",
    "_attn_implementation_internal",
    "experts_implementation",
    "_experts_implementation",
    "_experts_implementation_internal",
    "kernel_config",
    "use_kernels",
)
"""What in a configuration names code: Python modules, or kernels of a hub."""

_TEXT_ENCODERS = (MODEL_FOR_MASKED_LM_MAPPING_NAMES, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
_LABELS = ("num_labels", "id2label", "label2id")  # of another head; transformers writes out a name for each
_MOST_OF_A_KIND = 10_000  # layers, heads, groups; they are built one by one
_LARGEST = 2**31 - 1
_MOST_PARAMETERS = 20_000  # a hundred layers of BERT have 1,600


def saved_config(document: Mapping[str, Any], registered: str | None = None) -> PreTrainedConfig:
    """The shape of an encoder in a model folder; zerotag writes nothing there that names code, so that is refused.

    Its type is one of transformers' text encoders, or that of the registered encoder which the manifest names.
    """
    _refuse(document, RUNS_CODE)
    return _built_in(document, registered)


def foreign_config(document: Mapping[str, Any]) -> PreTrainedConfig:
    """The shape of a pre-trained encoder. Code that it names is left alone: the class of transformers is taken."""
    return _built_in(_without(document, RUNS_CODE))


def _built_in(document: Mapping[str, Any], registered: str | None = None) -> PreTrainedConfig:
    _refuse(document, ("quantization_config",))
    _check_numbers(document)
    kind = document.get("model_type")
    known = kind == registered or any(kind in kinds for kinds in _TEXT_ENCODERS)
    if not isinstance(kind, str) or not known:
        raise ZerotagError(f"model_type {kind!r} is not a text encoder of the installed transformers")
    try:
        return CONFIG_MAPPING[kind].from_dict(_without(document, _LABELS))
    except Exception as error:  # whatever a wrong value comes upon in transformers
        raise ZerotagError(f"not a configuration of {kind!r}: {_reason(error)}") from error


def _refuse(document: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name, value in _entries(document):
        if name in names and value is not None:
            raise ZerotagError(f"{name} is not allowed there: loading a model runs no code")


def _check_numbers(document: Mapping[str, Any]) -> None:
    for name, value in _entries(document):
        counts = "layer" in name or name.startswith(("num_", "n_"))
        if isinstance(value, int) and name not in _LABELS and value > (_MOST_OF_A_KIND if counts else _LARGEST):
            raise ZerotagError(
                f"{name} {value} is out of range; allowed: up to {_MOST_OF_A_KIND if counts else _LARGEST}"
            )


def _entries(document: object) -> Iterator[tuple[str, Any]]:
    """Names and values at every level."""
    if isinstance(document, Mapping):
        for name, value in document.items():
            yield name, value
            yield from _entries(value)
    elif isinstance(document, list):
        for value in document:
            yield from _entries(value)


def _without(document: Any, names: tuple[str, ...]) -> Any:
    if isinstance(document, Mapping):
        return {name: _without(value, names) for name, value in document.items() if name not in names}
    return [_without(value, names) for value in document] if isinstance(document, list) else document


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"


@contextmanager
def bounded_parameters() -> Iterator[None]:
    """A context in which this thread cannot build a network of more parts than any encoder has.

    Layers are Python objects: 100,000 of them take gigabytes before the first weight is looked at.
    """
    builder, count = threading.get_ident(), 0

    def register(_module: nn.Module, name: str, _parameter: nn.Parameter) -> None:
        nonlocal count
        if threading.get_ident() == builder:
            count += 1
            if count > _MOST_PARAMETERS:
                raise ZerotagError(f"the network has more than {_MOST_PARAMETERS} parameters, such as {name}")

    hook = register_module_parameter_registration_hook(register)
    try:
        yield
    finally:
        hook.remove()
