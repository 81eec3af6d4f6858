"""The registry of scorers, and what a scorer has to be.

A scorer is one file with a `ScorerSpec` in it, and one entry: in `SCORERS` below, or as an entry point of another
package. The command line, the service and the page then offer it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from zerotag.errors import ZerotagError
from zerotag.registry import Registry
from zerotag.types import Rule, Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller, WordLabeller

NATIVE = "native"
"""The model's own word scores."""

NOT_ITS_OWN = "fixed, as for every method but the model's own"
"""The origin of the word threshold of other methods."""


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


class ScorerArguments(NamedTuple):
    """What a scorer is asked for by."""

    method: str
    """As it was written, for messages: `heads:6.3`."""

    argument: str = ""
    """What follows the colon: `6.3`."""

    seed: int = 0
    """For scorers that draw at random."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerSpec:
    """A scorer as the registry has it."""

    create: Callable[[Labeller, ScorerArguments], Scorer]
    """Makes the scorer of a labeller, or raises a ZerotagError that says what the labeller lacks."""

    cost: int = 1
    """Forward passes for a sentence, roughly: the more, the fewer sentences are scored between two saves."""

    served: bool = True
    """Whether the service offers it to clients."""

    argument: str = ""
    """What may follow the name and a colon, as a regular expression. Empty: nothing may."""

    scores_sentences: bool = True
    """Whether its sentence scores are the model's, so that they can be measured."""

    def takes(self, argument: str) -> bool:
        """Whether an argument is written as it should be."""
        return re.fullmatch(self.argument, argument, re.ASCII) is not None


SCORERS: Registry[ScorerSpec] = Registry(
    "scorer",
    {
        NATIVE: "zerotag.explain.native:SCORER",
        "occlusion": "zerotag.explain.occlusion:SCORER",
        "gradient-x-input": "zerotag.explain.gradient:GRADIENT_X_INPUT",
        "integrated-gradients": "zerotag.explain.gradient:INTEGRATED_GRADIENTS",
        "lime": "zerotag.explain.lime:SCORER",
        "adaptive-lime": "zerotag.explain.adaptive_lime:SCORER",
        "heads": "zerotag.explain.heads:SCORER",
        "random": "zerotag.explain.random:SCORER",
    },
)


def create(method: str, labeller: Labeller, *, seed: int = 0) -> Scorer:
    """The scorer that a method names, on a labeller's network.

    Args:
        method: a name in `SCORERS`, for some with an argument after a colon, as in `heads:6.3`.
        labeller: the model that is asked.
        seed: for scorers that draw at random.

    Raises:
        ZerotagError: there is no such method, or this model cannot be asked in that way.
    """
    spec = spec_of(method)
    return spec.create(labeller, ScorerArguments(method[:40], method.partition(":")[2], seed))


def spec_of(method: str) -> ScorerSpec:
    """What the registry has under the name of a method, whatever argument follows it."""
    name, colon, _ = method.partition(":")
    spec = SCORERS.get(name) if name in SCORERS else None
    if spec is None or (colon and not spec.argument):
        raise ZerotagError(f"unknown method {method[:40]!r}; there are: {', '.join(SCORERS.names())}")
    return spec


def rules_for(method: str, own: Sequence[Rule]) -> tuple[Rule, ...]:
    """How words are decided by a method's scores, on a model that has rules of its own: those are for its own scores.

    Other methods have scales of their own; 0.5 is a beginning. What sentences score is the model's in any case.
    """
    if method == NATIVE:
        return tuple(own)
    return tuple(replace(rule, word_threshold=Rule().word_threshold, origin=NOT_ITS_OWN) for rule in own)


def in_torch(labeller: Labeller, method: str) -> WordLabeller:
    """The labeller, if its network is in torch, as most methods need it."""
    if not labeller.is_in_torch:
        raise ZerotagError(
            f"method {method!r} needs the network in torch, and this model was exported to ONNX: "
            "use the model folder it was exported from"
        )
    return cast("WordLabeller", labeller)


def mask_id(labeller: WordLabeller, method: str) -> int:
    """The mask token of a labeller's tokenizer, if it has one."""
    found: int | None = labeller.tokenizer.mask_token_id
    if found is None:
        raise ZerotagError(f"method {method!r} hides words behind a mask token, and this model's tokenizer has none")
    return found
