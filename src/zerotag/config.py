"""Every setting of a model and of its training, checked on construction and saved with the model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from zerotag.errors import ZerotagError
from zerotag.registry import Registry

if TYPE_CHECKING:
    from zerotag.modeling.heads import MakeHead
    from zerotag.modeling.losses import SentenceLoss
    from zerotag.training.optimizers import OptimizerSpec

PACKAGED_ENCODER = "all-MiniLM-L6-v2"
CLASSIFIER = "cls"
"""The head of a plain sentence classifier, the one kind that does not score words."""

LEXICAL = ("unigrams", "logistic-regression")
"""The encoder and the head of the lexical baseline, which go together."""

HEADS: Registry[MakeHead] = Registry(
    "head",
    {
        "soft-attention": "zerotag.modeling.heads:soft_attention",
        CLASSIFIER: "zerotag.modeling.heads:classifier",
        LEXICAL[1]: "zerotag.modeling.unigrams:logistic_regression",
    },
)
LOSSES: Registry[SentenceLoss] = Registry(
    "loss",
    {
        "cross-entropy": "zerotag.modeling.losses:CROSS_ENTROPY",
        "squared": "zerotag.research.losses:SQUARED",
        "twice-squashed": "zerotag.research.losses:TWICE_SQUASHED",
    },
    group="zerotag.losses",
)
OPTIMIZERS: Registry[OptimizerSpec] = Registry(
    "optimizer",
    {"adamw": "zerotag.training.optimizers:ADAMW", "adadelta": "zerotag.research.adadelta:ADADELTA"},
)

SEEDS = range(2**32)


def _require(condition: bool, name: str, value: object, allowed: str) -> None:
    if not condition:
        raise ZerotagError(f"{name} {value!r:.80} is out of range; allowed: {allowed}")


def _check(settings: object, name: str, is_allowed: Callable[[Any], bool], allowed: str) -> None:
    """Refuse a setting that is given and not allowed."""
    value = getattr(settings, name)
    _require(value is None or is_allowed(value), name, value, allowed)


def _check_name(settings: object, name: str, registry: Registry[Any]) -> None:
    _check(settings, name, registry.__contains__, " or ".join(registry.names()))


_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
    NoneType: "leave it out",
}


def require_types(record: object) -> None:
    """Every value of a dataclass is of the type its annotation names."""
    for name, annotation in get_type_hints(type(record)).items():
        require_type(name, annotation, getattr(record, name))


def require_type(name: str, annotation: Any, value: object) -> None:
    """A value is of the type that an annotation names."""
    kinds = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    allowed = "; ".join(_KINDS.get(kind) or " or ".join(get_args(kind)) for kind in kinds)
    _require(any(_is_a(kind, value) for kind in kinds), name, value, allowed)


def _is_a(kind: Any, value: object) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if isinstance(value, bool) or kind is bool:  # to Python, True is a whole number too
        return isinstance(value, bool) and kind is bool
    if kind is float:
        return isinstance(value, int | float) and abs(value) <= sys.float_info.max
    return isinstance(value, kind)


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What the network is: an encoder cut at a depth, and a head on top of it."""

    encoder: str = PACKAGED_ENCODER
    """The pre-trained encoder: the packaged one's name, a folder, or a name on the Hugging Face hub. Default: the
    packaged one, all-MiniLM-L6-v2, which is small and knows English. Take a larger one for better words, and one of
    another language for that. Or the name of a registered encoder: `bilstm` starts from nothing, `bilstm:FILE` from a
    text file of word vectors (GloVe, word2vec); `unigrams` is the lexical baseline's."""

    head: str = "soft-attention"
    """What stands on the encoder, by its registered name. Default: `soft-attention`, which scores words. For
    comparisons: `cls` is a plain sentence classifier that does not score words; `logistic-regression` is the lexical
    baseline's."""

    depth: int | None = None
    """The layer the head reads; the layers above it are dropped. Default (None): half of them for soft attention, all
    for `cls`. Lower, tokens know less of their context: try a few where words are marked that only stand near the
    cue."""

    beta: float = 4.0
    """Sharpness of the attention weights: 1 is soft attention, above 1 weighted soft attention. Default: 4; the paper
    has 2. Change it only to compare."""

    attention_size: int | None = None
    """Size of the layer from which a token's attention is computed. Default (None): the encoder's width; the paper has
    100. Change it only to compare."""

    hidden_size: int = 300
    """Size of the layer between the sentence vector and the sentence score. Default: 300, as in the paper. Change it
    only to compare."""

    dropout: float = 0.1
    """Dropout on what the head reads, while training. Default: 0.1. Raise it if the training loss falls and the F1 of
    the development set does too."""

    segmenter: str = "standard"
    """What splits texts into words, by its registered name. Default: `standard`, for languages written with spaces.
    Take `whitespace` for text whose words are parted already, `jieba`, `fugashi`, `pythainlp` and others for languages
    written without spaces, or one of another package. The model keeps it."""

    window: int = 512
    """Sub-words encoded at once, special ones included; longer sentences take several overlapping windows. Default:
    512, or what the encoder has positions for. Lower it if memory runs out on long texts."""

    tokenization: str = "text"
    """How texts become sub-words, by the name of a registered aligner. Default: `text` reads running text, as encoders
    learnt it. `words` is the BiLSTM's, `unigrams` the lexical baseline's; `lone-words`, `attend-to-end` and `reference`
    are for comparison with the paper's code. Leave it to the encoder."""

    @property
    def scores_words(self) -> bool:
        """Whether the head scores words."""
        return self.head != CLASSIFIER

    def __post_init__(self) -> None:
        require_types(self)
        _check_name(self, "head", HEADS)
        reads_words = self.tokenization == "words"
        _check(self, "head", lambda _: self.scores_words or not reads_words, "one that scores words, as it reads words")
        together = f"{LEXICAL[1]} with encoder {LEXICAL[0]}, another with any other"
        _check(self, "head", lambda head: (head == LEXICAL[1]) == (self.encoder == LEXICAL[0]), together)
        _check(self, "depth", lambda depth: depth >= 1, "1 or more; leave it out for auto")
        _check(self, "beta", lambda beta: 0 < beta <= 64, "above 0 and at most 64; the paper uses 2")
        _check(self, "attention_size", lambda size: size >= 1, "1 or more; leave it out for the encoder's width")
        _check(self, "hidden_size", lambda size: size >= 1, "1 or more")
        _check(self, "dropout", lambda share: 0 <= share < 1, "at least 0 and below 1")
        _check(self, "window", lambda size: size >= 16, "16 or more")


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How a network is trained."""

    epochs: int | None = None
    """Passes over the training sentences; the best by sentence F1 on the development set is kept. Default (None): 3, or
    up to 12 of few sentences, so that there are 125 steps. Raise it if the last epoch is the best."""

    teacher_epochs: int | None = None
    """Passes of the teacher, which scores words by soft attention at several depths; the student learns its words from
    these pseudo-labels. Default (None): 3, or 4 from 10,000 training sentences on, or more of few sentences, as above.
    0: no teacher; the network finds its words itself, as in the paper, in half the time."""

    teachers: int | None = None
    """How many teachers there are, each from a seed of its own; the student learns from their average. Default (None):
    1. More take as much longer; try them where two seeds give different words."""

    word_weight: float = 2.0
    """Weight of the pseudo-labels of words in the student's loss, beside the sentence labels. Default: 2. Lower it if
    sentence F1 matters more to you than words."""

    calibrated: bool = True
    """Whether thresholds are calibrated on the sentence labels of the development set. Default: true. Otherwise they
    are 0.5, as in the paper."""

    batch_size: int | None = None
    """Sentences per step. Default (None): 16, or 32 from 10,000 training sentences on. Lower it if memory runs out."""

    group_by_length: bool = True
    """Whether sentences of like length share a batch, which pads less. Default: true. Otherwise batches are drawn at
    random, as in the paper; change it only to compare."""

    learning_rate: float | None = None
    """Peak rate. Default (None): by the encoder's width, about 1e-4 for 384 and 5e-5 for 768, or 1 for AdaDelta. Lower
    it if the training diverges."""

    optimizer: str = "adamw"
    """The optimizer, by its registered name. Default: `adamw`. `adadelta` is for the BiLSTM as published: no warm-up,
    decay or clipping."""

    warmup: float = 0.1
    """Share of AdamW's steps in which the rate climbs; it falls linearly to 0 afterwards. Default: 0.1. Raise it if the
    loss jumps in the first steps. Above 1, the training ends before the climb does, as in the paper's reference code,
    which counts warm-up in sentences."""

    weight_decay: float = 0.1
    """AdamW's decay, not applied to biases and normalisation. Default: 0.1. Change it only to compare."""

    adam_epsilon: float = 1e-7
    """AdamW's epsilon. Default: 1e-7. Change it only to compare."""

    loss: str = "cross-entropy"
    """The loss of sentence scores in a teacher, or in the network where there is no teacher, by its registered name.
    Default: `cross-entropy`. `squared` is the BiLSTM's as published, `twice-squashed` that of the paper's reference
    code. Change it only to compare."""

    gamma: float = 0.1
    """Weight of the two losses of soft attention that push the lowest word score of a sentence to 0 and the highest to
    the sentence label. Default: 0.1, as in the paper. Raise it if all words of a sentence score alike."""

    patience: int = 3
    """Stop after this many epochs in a row that do not count as best (see `tolerance`). Default: 3. Raise it with
    `epochs`."""

    tolerance: float = 1.0
    """Epochs whose development F1 is within so many standard errors of the highest count as best, and the last of them
    is kept: word scores sharpen with training, while the F1 of a small development set wavers. Default: 1. 0 keeps the
    epoch with the highest F1."""

    dev_share: float = 0.1
    """Share of the training sentences that is split off for development where no development set is given. Default:
    0.1. Raise it if you have few sentences and thresholds vary from seed to seed."""

    seed: int = 1
    """Everything random follows from it. Default: 1. Train with several to see how far results depend on chance."""

    def __post_init__(self) -> None:
        require_types(self)
        _check_name(self, "optimizer", OPTIMIZERS)
        _check_name(self, "loss", LOSSES)
        most = 1 if self.teacher_epochs == 0 else 99
        chosen = "leave it out to have it chosen"
        _check(self, "epochs", lambda count: count >= 1, f"1 or more; {chosen}")
        _check(self, "teacher_epochs", lambda count: count >= 0, f"0 or more; {chosen}")
        one = "1 to 99, and 1 where teacher_epochs is 0; leave it out for 1"
        _check(self, "teachers", lambda count: 1 <= count <= most, one)
        _check(self, "word_weight", lambda weight: 0 <= weight <= 100, "0 to 100")
        _check(self, "batch_size", lambda size: size >= 1, f"1 or more; {chosen}")
        _check(self, "learning_rate", lambda rate: 0 < rate <= 1, f"above 0 and at most 1; {chosen}")
        _check(self, "warmup", lambda share: 0 <= share <= 100, "0 to 100; 0.1 is customary")
        _check(self, "weight_decay", lambda decay: 0 <= decay < 1, "at least 0 and below 1")
        _check(self, "adam_epsilon", lambda epsilon: 0 < epsilon < 1, "above 0 and below 1")
        _check(self, "gamma", lambda weight: 0 <= weight <= 100, "0 to 100; the paper uses 0.1")
        _check(self, "patience", lambda count: count >= 1, "1 or more")
        _check(self, "tolerance", lambda errors: 0 <= errors <= 10, "0 to 10 standard errors; 1 is customary")
        _check(self, "dev_share", lambda share: 0 < share < 1, "above 0 and below 1")
        _check(self, "seed", SEEDS.__contains__, f"0 to {SEEDS[-1]}")


@dataclass(frozen=True, slots=True)
class ChosenTrainConfig(TrainConfig):
    """How a network is trained, with nothing left to choose."""

    epochs: int = 3
    teacher_epochs: int = 3
    teachers: int = 1
    batch_size: int = 16
    learning_rate: float = 1e-4

    def as_given(self) -> TrainConfig:
        """The same settings as somebody could have given them."""
        return TrainConfig(**asdict(self))
