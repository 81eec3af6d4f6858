"""A sentence as the set of its words, and logistic regression on it: the network of the lexical baseline.

The encoder gives words as their numbers, which stand for one-hot vectors: its width is the size of the vocabulary. The
head has a coefficient for each word and label.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import FloatTensor, Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from zerotag.config import ModelConfig
from zerotag.modeling.heads import HeadOutput


class UnigramsConfig(PreTrainedConfig):
    """The shape of the encoder: how many words there are."""

    model_type = "zerotag-unigrams"

    hidden_size: int = 1
    num_hidden_layers: int = 1


class Unigrams(PreTrainedModel):
    """Says which word each token is, and nothing else."""

    config_class = UnigramsConfig
    config: UnigramsConfig

    def __init__(self, config: UnigramsConfig) -> None:
        super().__init__(config)
        self.post_init()  # type: ignore[no-untyped-call]

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> BaseModelOutput:  # noqa: ARG002 (as all encoders)
        """The numbers of the words of W windows, padded to L words: (W, L, 1)."""
        return BaseModelOutput(last_hidden_state=cast(FloatTensor, input_ids.unsqueeze(-1).float()))


class LogisticRegression(nn.Module):
    """Logistic regression on the set of a sentence's words; a word scores what a sentence of it alone would."""

    def __init__(self, words: int, labels: int) -> None:
        super().__init__()
        self.coefficients = nn.Parameter(torch.zeros(words, labels))
        self.intercept = nn.Parameter(torch.zeros(labels))

    def forward(self, tokens: Tensor, mask: Tensor) -> HeadOutput:
        """Score words by their numbers, `tokens` (S, T, 1), of which those outside `mask` (S, T) do not exist."""
        numbers = tokens[..., 0].long()
        coefficients = self.coefficients[numbers]
        counted = first_occurrences(numbers, mask).unsqueeze(-1)
        return HeadOutput((coefficients * counted).sum(dim=1) + self.intercept, coefficients + self.intercept)


def first_occurrences(numbers: Tensor, mask: Tensor) -> Tensor:
    """Which of a sentence's tokens, (S, T), are there for the first time, among those inside the mask."""
    ordered, order = numbers.masked_fill(~mask, -1).sort(dim=1, stable=True)
    is_new = torch.ones_like(mask)
    is_new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return mask & torch.zeros_like(mask).scatter(1, order, is_new)


def logistic_regression(width: int, labels: int, _: ModelConfig) -> LogisticRegression:
    """The head for a vocabulary of some size."""
    return LogisticRegression(width, labels)


# So that a saved model is found again by the type in its configuration, as any other encoder is.
AutoConfig.register(UnigramsConfig.model_type, UnigramsConfig)
AutoModel.register(UnigramsConfig, Unigrams)
