"""Attention heads as scorers: a word's score is the attention it receives. Every head comes from one forward pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from zerotag.align import Aligner, Encoded, word_scores
from zerotag.cancellation import check_cancelled
from zerotag.errors import ZerotagError
from zerotag.inference import device_of, evaluating, in_chunks, in_groups, token_budget
from zerotag.metrics import mean_average_precision
from zerotag.model import Network, TensorBatch
from zerotag.types import FloatArray, GoldExample, Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import WordLabeller

_ATTENTION_BUDGET = 2**26  # attention weights, of all layers and heads, that are held at a time


class Head(NamedTuple):
    """An attention head: its layer and its number there, both counted from 1."""

    layer: int
    number: int


class HeadScores(NamedTuple):
    """What every head says of a sentence."""

    sentence: Sentence
    sentence_scores: tuple[float, ...]
    word_scores: FloatArray  # (words, layers, heads)


class HeadScorer:
    """Scores words by one attention head, the same for all labels.

    A sub-word's score is the mean attention that it receives from the sequence it is in, special tokens included. In
    a long sentence that is the window which shows most of its context; all its windows are of one length.
    """

    def __init__(self, network: Network, aligner: Aligner, head: Head) -> None:
        layers, heads = _shape(network)
        if not (1 <= head.layer <= layers and 1 <= head.number <= heads):
            raise ZerotagError(f"there is no head {head.layer}.{head.number}; this model has 1.1 to {layers}.{heads}")
        self.name = f"heads:{head.layer}.{head.number}"
        self._column = (head.layer - 1) * heads + head.number - 1
        self._attention = _Attention(network, aligner)

    @property
    def passes(self) -> int:
        """Forward passes so far: one per sequence."""
        return self._attention.passes

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores of each sentence, in the order they come."""
        for sentence, sentence_scores, scores in self._attention.score(sentences, [self._column]):
            yield Scored(sentence, sentence_scores, np.repeat(scores, len(sentence_scores), axis=1))


def all_head_scores(network: Network, aligner: Aligner, sentences: Iterable[Sentence]) -> Iterator[HeadScores]:
    """The scores of every layer and head, in one forward pass."""
    layers, heads = _shape(network)
    columns = range(layers * heads)
    for sentence, sentence_scores, scores in _Attention(network, aligner).score(sentences, columns):
        yield HeadScores(sentence, sentence_scores, scores.reshape(-1, layers, heads))


def best_head_from_word_labels(labeller: WordLabeller, examples: Iterable[GoldExample]) -> Head:
    """The head with the highest mean average precision, averaged over labels. It reads word labels: not zero-shot."""
    gold = [(example.sentence, np.array(example.word_labels)) for example in examples if example.word_labels]
    labels = [k for k in range(len(labeller.label_names)) if any(flags[:, k].any() for _, flags in gold)]
    if not labels:
        raise ZerotagError("an attention head is chosen by word labels, and there is no positive word among these")
    scores = [one.word_scores for one in all_head_scores(labeller.network, labeller.aligner, (one for one, _ in gold))]

    def quality(head: Head) -> float:
        its_scores = [every[:, head.layer - 1, head.number - 1] for every in scores]
        by_label = [mean_average_precision([flags[:, k] for _, flags in gold], its_scores) for k in labels]
        return float(np.mean(np.array(by_label, np.float64)))

    layers, heads = _shape(labeller.network)
    return max((Head(layer + 1, number + 1) for layer in range(layers) for number in range(heads)), key=quality)


class _Attention:
    """The attention that words receive, for chosen columns of all layers' heads."""

    def __init__(self, network: Network, aligner: Aligner) -> None:
        self._network = network
        self._aligner = aligner
        self.passes = 0

    def score(
        self, sentences: Iterable[Sentence], columns: Sequence[int]
    ) -> Iterator[tuple[Sentence, tuple[float, ...], FloatArray]]:
        """Each sentence, its sentence scores and its words' (words, columns)."""
        budget = token_budget(device_of(self._network))

        def compute(members: Sequence[Encoded]) -> Iterator[tuple[tuple[float, ...], FloatArray]]:
            return self._compute(members, columns)

        for chunk, encoded in in_chunks(self._aligner, sentences):
            with evaluating(self._network), _eager(self._network.encoder), torch.inference_mode():
                results = in_groups(self._aligner, encoded, budget, compute)
            for sentence, (sentence_scores, scores) in zip(chunk, results, strict=True):
                yield sentence, sentence_scores, scores

    def _compute(
        self, members: Sequence[Encoded], columns: Sequence[int]
    ) -> Iterator[tuple[tuple[float, ...], FloatArray]]:
        check_cancelled()
        batch = self._aligner.batch(members)
        tensors = TensorBatch.of(batch, device_of(self._network))
        self.passes += len(batch.input_ids)
        encoded, received = _received(self._network.encoder, tensors)
        sentence_scores = torch.sigmoid(self._network.read(encoded, tensors).sentence_logits)
        chosen = received[..., list(columns)]
        tokens = chosen if tensors.stitch is None else chosen.flatten(0, 1)[tensors.stitch]
        token_scores = self._aligner.tokens(batch, tokens.cpu().numpy(), members)
        for scores, member, its_tokens in zip(sentence_scores.tolist(), members, token_scores, strict=True):
            yield tuple(scores), word_scores(member, its_tokens)


def _received(encoder: PreTrainedModel, batch: TensorBatch) -> tuple[Tensor, Tensor]:
    """The encoder's output (W, L, H), and the mean attention each token receives from real ones: (W, L, all heads)."""
    windows, length = batch.input_ids.shape
    heads = encoder.config.num_hidden_layers * encoder.config.num_attention_heads
    at_once = max(1, _ATTENTION_BUDGET // (heads * length**2))
    encoded, received = [], []
    for start in range(0, windows, at_once):
        mask = batch.attention_mask[start : start + at_once]
        output = encoder(
            input_ids=batch.input_ids[start : start + at_once], attention_mask=mask, output_attentions=True
        )
        share = mask / mask.sum(dim=1, keepdim=True)  # of each real query in the mean
        encoded.append(output.last_hidden_state)
        received.append(torch.cat([torch.einsum("wq,whqk->wkh", share, layer) for layer in output.attentions], dim=2))
    return torch.cat(encoded), torch.cat(received)


@contextmanager
def _eager(encoder: PreTrainedModel) -> Iterator[None]:
    """Attention that can be looked at, and afterwards as it was."""
    before = encoder.config._attn_implementation
    encoder.set_attn_implementation("eager")
    try:
        yield
    finally:
        encoder.set_attn_implementation(before)


def _shape(network: Network) -> tuple[int, int]:
    """Layers, and heads in each."""
    config = network.encoder.config
    if not hasattr(config, "num_attention_heads"):
        raise ZerotagError(f"encoders of type {config.model_type!r} have no attention heads to score words by")
    return config.num_hidden_layers, config.num_attention_heads
