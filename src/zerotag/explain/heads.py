"""Attention heads as scorers: a word's score is the attention it receives. Every head comes from one forward pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from zerotag.errors import ZerotagError
from zerotag.explain.registry import ScorerArguments, ScorerSpec, in_torch
from zerotag.inference.cancellation import check_cancelled
from zerotag.inference.devices import token_budget
from zerotag.inference.predictor import in_chunks, in_groups
from zerotag.inference.torch_predictor import device_of, evaluating
from zerotag.modeling.network import Network, TensorBatch
from zerotag.text.alignment import Aligner, Encoded, word_scores
from zerotag.types import FloatArray, Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller

ATTENTION_BUDGET = 2**26  # attention weights, of all layers and heads, that are held at a time


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
        layers, heads = shape_of(network)
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
    layers, heads = shape_of(network)
    columns = range(layers * heads)
    for sentence, sentence_scores, scores in _Attention(network, aligner).score(sentences, columns):
        yield HeadScores(sentence, sentence_scores, scores.reshape(-1, layers, heads))


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
        budget = token_budget(device_of(self._network).type)

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
    at_once = max(1, ATTENTION_BUDGET // (heads * length**2))
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


def shape_of(network: Network) -> tuple[int, int]:
    """The number of layers, and of attention heads in each."""
    config = network.encoder.config
    if not hasattr(config, "num_attention_heads"):
        raise ZerotagError(f"encoders of type {config.model_type!r} have no attention heads to score words by")
    return config.num_hidden_layers, config.num_attention_heads


def _create(labeller: Labeller, arguments: ScorerArguments) -> HeadScorer:
    trained = in_torch(labeller, arguments.method)
    if not SCORER.takes(arguments.argument):
        raise ZerotagError(
            f"method {arguments.method!r} does not say which head; write heads:LAYER.HEAD, as in heads:6.3, "
            "or have labelled words choose one (evaluate --tune-on)"
        )
    return HeadScorer(trained.network, trained.aligner, Head(*map(int, arguments.argument.split("."))))


SCORER = ScorerSpec(create=_create, cost=4, argument=r"\d{1,4}\.\d{1,4}")
