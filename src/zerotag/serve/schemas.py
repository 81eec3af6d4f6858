"""What goes into the service and comes out, as models: requests are checked by them, and OpenAPI describes both."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model

from zerotag.serve.settings import Limits

TEXT, WORDS, NUMBER, BY_LABEL = TAGS = ("<text>", "<words>", "<number>", "<by label>")
"""Names of alternatives, which pydantic adds to the place of an error."""


class Closed(BaseModel):
    """Nothing but the fields that are named, each of just its type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Verdict(Closed):
    """The score and label of a word or sentence; those of all labels where there are several."""

    score: float
    label: str | None
    scores: Annotated[dict[str, float], Field(default_factory=dict)]
    labels: Annotated[list[str], Field(default_factory=list)]


class Place(Closed):
    """A stretch of a text."""

    text: str
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]


class Word(Place, Verdict):
    """A word."""


class Span(Place):
    """Neighbouring words with the same label."""

    label: str
    score: float


class Record(Verdict):
    """A labelled text."""

    text: str
    words: list[Word]
    spans: list[Span]


class Labelled(Closed):
    """One record per text, in order."""

    model: str
    revision: str
    method: str
    results: list[Record]


class Rule(Closed):
    """How the scores of a label become decisions."""

    word_threshold: float
    sentence_threshold: float
    origin: str
    exclusive: bool


class Model(Closed):
    """What the service says of a model."""

    name: str
    revision: Annotated[str, Field(description="Another one when the model folder was replaced")]
    labels: list[str]
    rules: Annotated[dict[str, Rule], Field(description="By label, for the model's own scores")]
    segmenter: Annotated[str, Field(description="What splits texts into words")]
    methods: Annotated[list[str], Field(min_length=1)]
    rules_by_method: Annotated[
        dict[str, dict[str, Rule]], Field(description="By method and label: what decides its scores")
    ]
    default: bool
    encoder: str
    depth: int | None
    scores: dict[str, float]
    word_labels: Annotated[
        dict[str, int],
        Field(description="Of how many sentences words were labelled, by what learnt from them; empty: zero-shot"),
    ]


class Models(Closed):
    """The models, and the largest request that is taken."""

    models: list[Model]
    limits: dict[str, int]


class Health(Closed):
    """Whether the service runs."""

    status: str


class Readiness(Health):
    """Whether each model is ready."""

    models: dict[str, str]


class Complaint(Closed):
    """What is wrong with a request, and where in it."""

    code: str
    message: str
    where: Annotated[str, Field(default="")]


class Error(Closed):
    """An answer other than the one that was asked for."""

    error: Complaint


Threshold = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Thresholds = Annotated[
    Annotated[Threshold, Tag(NUMBER)] | Annotated[dict[str, Threshold], Tag(BY_LABEL)],
    Discriminator(lambda value: BY_LABEL if isinstance(value, dict) else NUMBER),
]


@cache
def label_request(limits: Limits) -> type[BaseModel]:
    """The body of a request for labels, within limits: `texts`, `model`, `method` and `threshold`."""
    text = Annotated[str, Field(max_length=limits.characters)]
    word = Annotated[str, Field(max_length=limits.word_characters)]
    words = Annotated[list[word], Field(max_length=limits.words, fail_fast=True)]
    either = Annotated[
        Annotated[text, Tag(TEXT)] | Annotated[words, Tag(WORDS)],
        Discriminator(lambda value: WORDS if isinstance(value, list) else TEXT),
    ]
    fields: dict[str, Any] = {
        "texts": (list[either], Field(max_length=limits.texts, fail_fast=True)),
        "model": (str | None, Field(None, description="A name from /v1/models; the default model if left out")),
        "method": (str | None, Field(None, description="One of the model's methods; its first if left out")),
        "threshold": (
            Thresholds | None,
            Field(
                None,
                description="The score from which words have the label, or one by label; the model's if left out",
            ),
        ),
    }
    made: type[BaseModel] = create_model("LabelRequest", __base__=Closed, **fields)
    return made
