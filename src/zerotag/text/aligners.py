"""The registry of aligners: how a model's texts become sub-words and batches."""

from __future__ import annotations

from typing import Protocol

from tokenizers import Tokenizer

from zerotag.config import ModelConfig
from zerotag.registry import Registry
from zerotag.text.alignment import Aligner


class MakeAligner(Protocol):
    """An aligner's class, or a function that makes one."""

    def __call__(self, tokenizer: Tokenizer, *, window: int, pad_id: int) -> Aligner:
        """The aligner of a tokenizer, for windows of so many sub-words."""


ALIGNERS: Registry[MakeAligner] = Registry(
    "aligner",
    {
        "text": "zerotag.text.alignment:Aligner",
        "unigrams": "zerotag.text.whole_words:WholeWordAligner",
        "words": "zerotag.research.bilstm:WordAligner",
        "lone-words": "zerotag.research.reference:LoneWordAligner",
        "attend-to-end": "zerotag.research.reference:EndAligner",
        "reference": "zerotag.research.reference:ReferenceAligner",
    },
)
"""`text` reads running text, as encoders learnt it; the others are for comparisons with published work."""


def aligner_for(config: ModelConfig, tokenizer: Tokenizer, *, pad_id: int) -> Aligner:
    """The aligner that makes an encoder's batches."""
    return ALIGNERS.get(config.tokenization)(tokenizer, window=config.window, pad_id=pad_id)
