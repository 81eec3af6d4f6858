"""Methods that score words, behind one small protocol."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from zerotag.errors import ZerotagError
from zerotag.types import Rule, Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller, WordLabeller

METHODS = ("native", "random", "lime", "heads", "gradient-x-input", "integrated-gradients", "occlusion")
"""What `create` knows; `heads` is written with a layer and a head, both counted from 1: `heads:6.3`."""


NOT_ITS_OWN = "fixed, as for every method but the model's own"
"""The origin of such a method's word threshold."""

_HEAD = re.compile(r"heads:(\d{1,4})\.(\d{1,4})", re.ASCII)


class Scorer(Protocol):
    """One finite score per word and label, whatever the length; the same alone or in any batch."""

    @property
    def name(self) -> str:
        """What tables call the method."""

    @property
    def passes(self) -> int:
        """Forward passes so far: how many sequences, a long sentence having several, went through the encoder.

        Read it before and after to have the cost of some sentences.
        """

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores of each sentence, in the order they come."""


def rules_for(method: str, own: Sequence[Rule]) -> tuple[Rule, ...]:
    """How words are decided by a method's scores, on a model that has rules of its own: those are for its own scores.

    Other methods have scales of their own; 0.5 is a beginning. What sentences score is the model's in any case.
    """
    if method == "native":
        return tuple(own)
    return tuple(Rule(sentence_threshold=rule.sentence_threshold, origin=NOT_ITS_OWN) for rule in own)


def names_a_head(method: str) -> bool:
    """Whether a method is written as `heads:LAYER.HEAD`."""
    return _HEAD.fullmatch(method) is not None


def create(method: str, labeller: Labeller, *, seed: int = 0) -> Scorer:
    """The scorer with a name of `METHODS`, on a labeller's network; `seed` is for those that draw."""
    # Each method is imported on use: names and help should not wait for torch.
    if method not in METHODS and not method.startswith("heads:"):
        raise ZerotagError(f"unknown method {method[:40]!r}; there are: {', '.join(METHODS)}")
    if method == "native":
        from zerotag.explain.native import NativeScorer

        return NativeScorer(labeller.predictor, labeller.aligner)
    if method == "random":
        from zerotag.explain.random import RandomScorer

        return RandomScorer(len(labeller.label_names), seed=seed)
    return _explainer(method, in_torch(method, labeller), seed)


def _explainer(method: str, labeller: WordLabeller, seed: int) -> Scorer:
    network, aligner = labeller.network, labeller.aligner
    if method == "lime":
        from zerotag.explain.lime import LimeScorer

        return LimeScorer(network, aligner, _mask_id(method, labeller), seed=seed)
    if method == "gradient-x-input":
        from zerotag.explain.gradient import GradientScorer

        return GradientScorer(network, aligner)
    if method == "integrated-gradients":
        from zerotag.explain.gradient import IntegratedGradientsScorer

        return IntegratedGradientsScorer(network, aligner, _mask_id(method, labeller))
    if method == "occlusion":
        from zerotag.explain.occlusion import OcclusionScorer

        return OcclusionScorer(network, aligner, _mask_id(method, labeller))
    from zerotag.explain.heads import Head, HeadScorer

    return HeadScorer(network, aligner, Head(*_layer_and_head(method)))


def in_torch(method: str, labeller: Labeller) -> WordLabeller:
    """The labeller, if its network is in torch, as most methods need it."""
    from zerotag.labeller import WordLabeller

    if not isinstance(labeller, WordLabeller):
        raise ZerotagError(
            f"method {method[:40]!r} needs the network in torch, and this model was exported to ONNX: "
            "use the model folder it was exported from"
        )
    return labeller


def _mask_id(method: str, labeller: WordLabeller) -> int:
    found: int | None = labeller.tokenizer.mask_token_id
    if found is None:
        raise ZerotagError(f"method {method!r} hides words behind a mask token, and this model's tokenizer has none")
    return found


def _layer_and_head(method: str) -> tuple[int, int]:
    match = _HEAD.fullmatch(method)
    if match is None:
        raise ZerotagError(
            f"method {method[:40]!r} does not say which head; write heads:LAYER.HEAD, as in heads:6.3, "
            "or have labelled words choose one (evaluate --tune-on)"
        )
    return int(match[1]), int(match[2])
