"""Train on sentence labels, get a word labeller.

labeller = zerotag.train("sentences.csv")             # a column text, a column label
labeller.label("The pump may fail in winter.").spans  # the words that carry the label
labeller.save_pretrained("model")
labeller = zerotag.load("model")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zerotag.active.suggest import Suggestion as Suggestion
    from zerotag.active.suggest import suggest as suggest
    from zerotag.config import ModelConfig as ModelConfig
    from zerotag.config import TrainConfig as TrainConfig
    from zerotag.errors import ZerotagError as ZerotagError
    from zerotag.evaluation.report import Report as Report
    from zerotag.io import read as read
    from zerotag.io import read_corrected as read_corrected
    from zerotag.io import read_gold as read_gold
    from zerotag.labeller import WordLabeller as WordLabeller
    from zerotag.labeller import load as load
    from zerotag.labelling import Labeller as Labeller
    from zerotag.render.heatmap.figure import Figure as Figure
    from zerotag.results import Results as Results
    from zerotag.serve.client import Client as Client
    from zerotag.training.api import train as train
    from zerotag.training.loop import Progress as Progress
    from zerotag.types import Corpus as Corpus
    from zerotag.types import CorrectedExample as CorrectedExample
    from zerotag.types import Example as Example
    from zerotag.types import GoldExample as GoldExample
    from zerotag.types import Labelled as Labelled
    from zerotag.types import Rule as Rule
    from zerotag.types import Scored as Scored
    from zerotag.types import Sentence as Sentence
    from zerotag.types import Span as Span
    from zerotag.types import Word as Word

__version__ = "0.1.0"

# Loaded on first use: importing torch takes seconds, and `zerotag --help` should not.
_NAMES = {
    "zerotag.active.suggest": ("Suggestion", "suggest"),
    "zerotag.config": ("ModelConfig", "TrainConfig"),
    "zerotag.errors": ("ZerotagError",),
    "zerotag.evaluation.report": ("Report",),
    "zerotag.io": ("read", "read_corrected", "read_gold"),
    "zerotag.labeller": ("WordLabeller", "load"),
    "zerotag.labelling": ("Labeller",),
    "zerotag.render.heatmap.figure": ("Figure",),
    "zerotag.results": ("Results",),
    "zerotag.serve.client": ("Client",),
    "zerotag.training.api": ("train",),
    "zerotag.training.loop": ("Progress",),
    "zerotag.types": (
        *("Corpus", "CorrectedExample", "Example", "GoldExample"),
        *("Labelled", "Rule", "Scored", "Sentence", "Span", "Word"),
    ),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = [*_HOMES, "__version__"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'zerotag' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
