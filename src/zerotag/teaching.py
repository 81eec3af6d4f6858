"""What a first network, the teacher, has to say about words, made into targets for the network that people get.

Soft attention finds the words that carry a label, but not only them: a token beside a cue has seen the cue and can
collect its evidence. Two things tell them apart. The shallower a layer, the less has been collected, so the teacher has
heads at several depths and their scores are averaged. And evidence that was collected is gone when its source is
hidden: so each of the strongest words of a sentence is hidden in turn, and a word is worth its score with everything in
view times its lowest score with another word hidden.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from zerotag.align import Aligner, Encoded, on_tokens
from zerotag.config import ModelConfig
from zerotag.inference import predict, words_of
from zerotag.model import Network, TensorBatch, new_head, read_with
from zerotag.soft_attention import HeadOutput
from zerotag.types import BoolArray, FloatArray

WORDS_HIDDEN = 3  # the strongest of a sentence, one at a time


class Teacher(Network):
    """An encoder with a soft-attention head at each layer of its upper half; its scores are their average."""

    def __init__(self, encoder: PreTrainedModel, labels: int, config: ModelConfig) -> None:
        nn.Module.__init__(self)  # not the network's own, which makes one head
        self.encoder = encoder
        layers: int = encoder.config.num_hidden_layers
        self.depths = range((layers + 1) // 2, layers + 1)
        self.heads = nn.ModuleList(new_head(encoder.config.hidden_size, labels, config) for _ in self.depths)

    def encode(self, batch: TensorBatch) -> Tensor:
        """What the layers that have a head make of the batch's windows, side by side: (W, L, depths × H)."""
        output = self.encoder(batch.input_ids, attention_mask=batch.attention_mask, output_hidden_states=True)
        return torch.cat([output.hidden_states[depth] for depth in self.depths], dim=-1)

    def read(self, encoded: Tensor, batch: TensorBatch) -> HeadOutput:
        """Logits of the average probabilities."""
        outputs = self.outputs(encoded, batch)
        return HeadOutput(
            _average([output.sentence_logits for output in outputs]),
            _average([output.token_logits for output in outputs if output.token_logits is not None]),
        )

    def outputs(self, encoded: Tensor, batch: TensorBatch) -> list[HeadOutput]:
        """What each head says."""
        return [
            read_with(head, layer, batch)
            for head, layer in zip(self.heads, encoded.chunk(len(self.depths), dim=-1), strict=True)
        ]


def _average(logits: list[Tensor]) -> Tensor:
    return torch.logit(torch.stack(logits).float().sigmoid().mean(dim=0), eps=1e-7)


def word_worth(teacher: Network, aligner: Aligner, sentences: Sequence[Encoded], labels: BoolArray) -> list[FloatArray]:
    """What a teacher says of each word, (words, K): from 0 to 1 in a sentence with the label, else 0."""
    worth = [np.zeros((sentence.words, labels.shape[1]), np.float32) for sentence in sentences]
    for k in range(labels.shape[1]):
        positive = np.flatnonzero(labels[:, k]).tolist()
        for i, words in zip(positive, label_worth(teacher, aligner, [sentences[i] for i in positive], k), strict=True):
            worth[i][:, k] = words
    return worth


def token_targets(sentences: Sequence[Encoded], said: Sequence[Sequence[FloatArray]]) -> list[FloatArray]:
    """What each token should score, (tokens, K), after what each teacher has said of the words of all sentences."""
    return [
        on_tokens(sentence, _relative(np.mean(words, axis=0)))
        for sentence, words in zip(sentences, zip(*said, strict=True), strict=True)
    ]


def _relative(worth: FloatArray) -> FloatArray:
    """To the best word of the sentence, label by label."""
    relative: FloatArray = worth / np.maximum(worth.max(axis=0), 1e-7)
    return relative


def label_worth(teacher: Network, aligner: Aligner, sentences: Sequence[Encoded], k: int) -> list[FloatArray]:
    """What the words of sentences with label `k` are worth; 1 for the best word of each."""
    in_view = _scores(teacher, aligner, sentences, k)
    lowest = [scores.copy() for scores in in_view]
    for place in range(WORDS_HIDDEN):
        strongest = [int(np.argsort(-scores, kind="stable")[min(place, len(scores) - 1)]) for scores in in_view]
        views = [sentence.hiding(word) for sentence, word in zip(sentences, strongest, strict=True)]
        for low, scores, word in zip(lowest, _scores(teacher, aligner, views, k), strongest, strict=True):
            scores[word] = low[word]  # a hidden word says nothing of itself
            np.minimum(low, scores, out=low)
    products = [scores * low for scores, low in zip(in_view, lowest, strict=True)]
    return [*map(_relative, products)]


def _scores(teacher: Network, aligner: Aligner, sentences: Sequence[Encoded], k: int) -> list[FloatArray]:
    return [scores[:, k] for scores in words_of(sentences, predict(teacher, aligner, sentences))]
