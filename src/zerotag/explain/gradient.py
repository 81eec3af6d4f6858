"""Gradients as scores: how a label's sentence logit changes with the vectors by which sub-words enter the encoder.

Scores are signed, as words may also speak against a label, which a norm would hide. In a long sentence, a sub-word
that stands in two windows has the sum of what it does in both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from zerotag.errors import ZerotagError
from zerotag.explain.registry import ScorerArguments, ScorerSpec, in_torch, mask_id
from zerotag.inference.cancellation import check_cancelled
from zerotag.inference.devices import token_budget
from zerotag.inference.predictor import in_chunks, in_groups
from zerotag.inference.torch_predictor import Shared, device_of, evaluating
from zerotag.modeling.encoders import takes_vectors
from zerotag.modeling.network import Network, TensorBatch
from zerotag.text.alignment import Aligner, Encoded, word_scores
from zerotag.types import FloatArray, Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller

_BUDGET_SHARE = 8  # a backward pass needs what every layer computed, so that less goes through at once


@contextmanager
def _tensor_float_32() -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


_quick_products = Shared(_tensor_float_32)
"""For a GPU: bfloat16 would blur what a path adds up, and full precision takes far longer."""


class _EmbeddingScorer(ABC):
    """What the methods here have in common: all but the attributions."""

    name: str

    def __init__(self, network: Network, aligner: Aligner) -> None:
        if not takes_vectors(network.encoder):
            kind = network.encoder.config.model_type
            raise ZerotagError(f"encoders of type {kind!r} do not take word vectors, which {self.name} follows")
        self._network = network
        self._aligner = aligner
        self.passes = 0

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores of each sentence, in the order they come."""
        device = device_of(self._network)
        budget = token_budget(device.type) // _BUDGET_SHARE
        for chunk, encoded in in_chunks(self._aligner, sentences):
            products = _quick_products if device.type == "cuda" else nullcontext()
            with evaluating(self._network), products, torch.inference_mode(False), torch.enable_grad():
                results = in_groups(self._aligner, encoded, budget, self.attributions)
            for sentence, its_encoded, (sentence_scores, token_scores) in zip(chunk, encoded, results, strict=True):
                yield Scored(sentence, sentence_scores, word_scores(its_encoded, token_scores))

    @abstractmethod
    def _attribute(self, batch: TensorBatch, own: Tensor) -> tuple[Tensor, Tensor]:
        """Sentence logits (S, K) and attributions (W, L, K); `own` (W, L) is where no special tokens are."""

    def attributions(self, members: Sequence[Encoded]) -> Iterator[tuple[tuple[float, ...], FloatArray]]:
        """Sentence scores, and token scores (tokens, K), of some sentences at once."""
        batch = TensorBatch.of(self._aligner.batch(members), device_of(self._network))
        logits, attributions = self._attribute(batch, self._own_tokens(members, batch))
        windows = iter(attributions.cpu().numpy())
        for member, scores in zip(members, torch.sigmoid(logits).tolist(), strict=True):
            token_scores = np.zeros((len(member), len(scores)), np.float32)
            length = self._window_length(member)
            for start in self._aligner.windows(len(member)):
                token_scores[start : start + length] += next(windows)[self._aligner.offset :][:length]
            yield tuple(scores), token_scores

    def _own_tokens(self, members: Sequence[Encoded], batch: TensorBatch) -> Tensor:
        lengths = [self._window_length(member) for member in members for _ in self._aligner.windows(len(member))]
        position = torch.arange(batch.input_ids.shape[1]) - self._aligner.offset
        own = (position >= 0) & (position < torch.tensor(lengths).unsqueeze(1))
        return own.to(batch.input_ids.device)

    def _window_length(self, member: Encoded) -> int:
        return min(len(member), self._aligner.capacity)

    def _embed(self, input_ids: Tensor) -> Tensor:
        vectors: Tensor = self._network.encoder.get_input_embeddings()(input_ids)
        return vectors.detach()

    def _encode(self, vectors: Tensor, attention_mask: Tensor) -> Tensor:
        encoded: Tensor = self._network.encoder(inputs_embeds=vectors, attention_mask=attention_mask).last_hidden_state
        return encoded

    def _slopes(self, batch: TensorBatch, at: Tensor, along: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (S, K) at the input vectors `at`, and how they grow with each token's step `along`: (W, L, K)."""
        check_cancelled()
        self.passes += len(at)
        at = at.detach().requires_grad_()
        logits = self._network.read(self._encode(at, batch.attention_mask), batch).sentence_logits
        slopes = [
            (torch.autograd.grad(of_label.sum(), at, retain_graph=True)[0] * along).sum(dim=-1)
            for of_label in logits.unbind(dim=1)
        ]
        return logits.detach(), torch.stack(slopes, dim=-1)


class GradientScorer(_EmbeddingScorer):
    """Gradient × input: the dot product of a sub-word's vector and the gradient there. One forward pass.

    An encoder that normalises the vectors before all else (ModernBERT, DeBERTa-v3) does not see their length, which
    makes that product 0 whatever the word: such encoders are refused.
    """

    name = "gradient-x-input"

    def __init__(self, network: Network, aligner: Aligner) -> None:
        super().__init__(network, aligner)
        if self._ignores_length():
            raise ZerotagError(
                f"{self.name} says nothing on encoders of type {network.encoder.config.model_type!r}, which ignore how "
                "long word vectors are; use integrated-gradients"
            )

    def _ignores_length(self) -> bool:
        some_ids = torch.arange(8, device=device_of(self._network)).unsqueeze(0)
        vectors = self._embed(some_ids)
        with evaluating(self._network), torch.no_grad():
            once, tenfold = (self._encode(scale * vectors, torch.ones_like(some_ids)) for scale in (1, 10))
        return bool((tenfold - once).norm() < 0.01 * once.norm())

    def _attribute(self, batch: TensorBatch, own: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        vectors = self._embed(batch.input_ids)
        return self._slopes(batch, at=vectors, along=vectors)


class IntegratedGradientsScorer(_EmbeddingScorer):
    """Integrated gradients (Sundararajan et al. 2017): the gradient all the way from masked words to the real ones.

    The scores of a sentence's sub-words add up to what its logit has over that of as many mask tokens. The integral
    is by Gauss and Legendre; its steps are forward passes, and one more is for the sentence itself.
    """

    name = "integrated-gradients"

    def __init__(self, network: Network, aligner: Aligner, mask_id: int, *, steps: int = 32) -> None:
        super().__init__(network, aligner)
        self._mask_id = mask_id
        points, weights = np.polynomial.legendre.leggauss(steps)  # on -1..1
        self._path = [
            ((1 + float(point)) / 2, float(weight) / 2) for point, weight in zip(points, weights, strict=True)
        ]

    def _attribute(self, batch: TensorBatch, own: Tensor) -> tuple[Tensor, Tensor]:
        baseline = self._embed(batch.input_ids.masked_fill(own, self._mask_id))
        way = self._embed(batch.input_ids) - baseline
        parts = (weight * self._slopes(batch, at=baseline + point * way, along=way)[1] for point, weight in self._path)
        attributions = torch.stack(list(parts)).sum(dim=0)
        self.passes += len(batch.input_ids)
        with torch.no_grad():
            return self._network(batch).sentence_logits, attributions


def _gradient_x_input(labeller: Labeller, arguments: ScorerArguments) -> GradientScorer:
    trained = in_torch(labeller, arguments.method)
    return GradientScorer(trained.network, trained.aligner)


def _integrated_gradients(labeller: Labeller, arguments: ScorerArguments) -> IntegratedGradientsScorer:
    trained = in_torch(labeller, arguments.method)
    return IntegratedGradientsScorer(trained.network, trained.aligner, mask_id(trained, arguments.method))


GRADIENT_X_INPUT = ScorerSpec(create=_gradient_x_input, cost=4)
INTEGRATED_GRADIENTS = ScorerSpec(create=_integrated_gradients, cost=32)
