"""Train on sentence labels, get a word labeller."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zerotag.client import Client as Client
    from zerotag.config import ModelConfig as ModelConfig
    from zerotag.config import TrainConfig as TrainConfig
    from zerotag.errors import ZerotagError as ZerotagError
    from zerotag.io import read as read
    from zerotag.io import read_gold as read_gold
    from zerotag.labeller import WordLabeller as WordLabeller
    from zerotag.labeller import load as load
    from zerotag.training.recipe import train as train
    from zerotag.types import Corpus as Corpus
    from zerotag.types import Example as Example
    from zerotag.types import Sentence as Sentence

__version__ = "0.1.0"

# Loaded on first use: importing torch takes seconds, and `zerotag --help` should not.
_HOMES = {
    "Client": "zerotag.client",
    "ModelConfig": "zerotag.config",
    "TrainConfig": "zerotag.config",
    "read": "zerotag.io",
    "read_gold": "zerotag.io",
    "ZerotagError": "zerotag.errors",
    "WordLabeller": "zerotag.labeller",
    "load": "zerotag.labeller",
    "train": "zerotag.training.recipe",
    "Corpus": "zerotag.types",
    "Example": "zerotag.types",
    "Sentence": "zerotag.types",
}

__all__ = [*_HOMES, "__version__"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'zerotag' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
