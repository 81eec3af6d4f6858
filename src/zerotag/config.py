"""Every setting of a model and of its training, checked on construction and saved with the model."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, fields, replace
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from zerotag.errors import ZerotagError
from zerotag.registry import Registry

if TYPE_CHECKING:
    from zerotag.modeling.heads import MakeHead
    from zerotag.modeling.losses import SentenceLoss
    from zerotag.training.optimizers import OptimizerSpec

PACKAGED_ENCODER = "all-MiniLM-L6-v2"
CLASSIFIER = "cls"
"""The head of a plain sentence classifier, the one kind that does not score words."""

HEADS: Registry[MakeHead] = Registry(
    "head",
    {
        "soft-attention": "zerotag.modeling.heads:soft_attention",
        CLASSIFIER: "zerotag.modeling.heads:classifier",
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
        raise ZerotagError(f"{name} {value!r} is out of range; allowed: {allowed}")


def _require_one_of(registry: Registry[Any], name: str, value: str) -> None:
    _require(value in registry, name, value, " or ".join(registry.names()))


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", NoneType: "leave it out"}


def require_types(record: object) -> None:
    """Every value of a dataclass is of the type its annotation names."""
    for name, annotation in get_type_hints(type(record)).items():
        kinds = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
        allowed = "; ".join(_KINDS.get(kind) or " or ".join(get_args(kind)) for kind in kinds)
        value = getattr(record, name)
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
    """The packaged encoder's name, a folder, or a name on the Hugging Face hub. Default: the packaged one, small and
    English; take a larger one, or one of another language, for better words. Or the name of a registered encoder:
    `bilstm` starts from nothing, `bilstm:FILE` from a text file of word vectors (GloVe, word2vec)."""

    head: str = "soft-attention"
    """The name of a registered head: `soft-attention` scores words; `cls` is a plain sentence classifier that does not,
    for comparisons."""

    depth: int | None = None
    """The layer the head reads; the layers above it are dropped. None: half of them for soft attention, all for cls."""

    beta: float = 4.0
    """Sharpness of the attention weights: 1 is soft attention, above 1 weighted soft attention."""

    attention_size: int | None = None
    """Size of the vector from which a token's attention is computed. None: the encoder's width; the paper has 100."""

    hidden_size: int = 300
    """Size of the layer between the sentence vector and the sentence score."""

    dropout: float = 0.1
    """Dropout on what the head reads, while training."""

    segmenter: str = "standard"
    """What splits texts into words, a name in the registry of segmenters: `standard` for languages written with
    spaces, `whitespace` for text whose words are parted already, `jieba` and others, or one of another package."""

    window: int = 512
    """Sub-words encoded at once, special ones included; longer sentences take several overlapping windows."""

    tokenization: str = "text"
    """How texts become sub-words, the name of a registered aligner. `text` reads running text, as encoders learnt it;
    `words` is the BiLSTM's; `lone-words`, `attend-to-end` and `reference` are for comparison with the paper's code."""

    @property
    def scores_words(self) -> bool:
        """Whether the head scores words."""
        return self.head != CLASSIFIER

    def __post_init__(self) -> None:
        require_types(self)
        _require_one_of(HEADS, "head", self.head)
        _require(
            self.scores_words or self.tokenization != "words",
            "head",
            self.head,
            "one that scores words, as it reads words",
        )
        _require(self.depth is None or self.depth >= 1, "depth", self.depth, "1 or more; leave it out for auto")
        _require(0 < self.beta <= 64, "beta", self.beta, "above 0 and at most 64; the paper uses 2")
        _require(
            self.attention_size is None or self.attention_size >= 1,
            "attention_size",
            self.attention_size,
            "1 or more; leave it out for the encoder's width",
        )
        _require(self.hidden_size >= 1, "hidden_size", self.hidden_size, "1 or more")
        _require(0 <= self.dropout < 1, "dropout", self.dropout, "at least 0 and below 1")
        _require(self.window >= 16, "window", self.window, "16 or more")


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How a network is trained."""

    epochs: int | None = None
    """Passes over the training sentences; the best by sentence F1 on the development set is kept. None: 3, or up
    to 12 of few sentences, so that there are 125 steps."""

    teacher_epochs: int | None = None
    """Passes of a first network, the teacher, which finds words by soft attention at several depths; the final network
    learns its words from what the teacher finds. 0: no teacher; the network finds its words itself, as in the paper.
    None: 3, or 4 from 10,000 training sentences on, or more of few sentences, as above."""

    teachers: int | None = None
    """How many teachers there are, each from a seed of its own; the student learns from their average. None: 1. More
    take as much longer; try them where two seeds give different words."""

    word_weight: float = 2.0
    """Weight of what the teacher says of the words, beside the sentence labels."""

    calibrated: bool = True
    """Whether thresholds are chosen, by the sentence labels of the development set, or fixed at 0.5."""

    batch_size: int | None = None
    """Sentences per step. None: 16, or 32 from 10,000 training sentences on."""

    learning_rate: float | None = None
    """Peak rate. None: chosen by the encoder's width (about 1e-4 for 384, 5e-5 for 768), or 1 for AdaDelta."""

    optimizer: str = "adamw"
    """The name of a registered optimizer. `adadelta` is for the BiLSTM as published: no warm-up, decay or clipping."""

    warmup: float = 0.1
    """Share of AdamW's steps in which the rate climbs; it falls linearly to 0 afterwards. Above 1, the training ends
    before the climb does, as in the paper's reference code, which counts warm-up in sentences."""

    weight_decay: float = 0.1
    """AdamW's decay, not applied to biases and normalisation."""

    adam_epsilon: float = 1e-7
    """AdamW's epsilon."""

    loss: str = "cross-entropy"
    """The name of a registered loss of the sentence score, where words are found by soft attention: `squared` error is
    the BiLSTM's as published, `twice-squashed` that of the paper's reference code."""

    gamma: float = 0.1
    """Weight of the two losses that push some words of a sentence to 0 and the strongest to the sentence label, where
    words are found by soft attention."""

    patience: int = 3
    """Stop after this many epochs without a better development F1."""

    tolerance: float = 1.0
    """Epochs whose development F1 is within so many standard errors of the highest count as best. The last of them is
    kept, since word scores sharpen with training, while the F1 of a small development set wavers."""

    dev_share: float = 0.1
    """Share of the training sentences split off for development where no development set is given."""

    seed: int = 1
    """Everything random follows from it."""

    def __post_init__(self) -> None:
        require_types(self)
        _require_one_of(OPTIMIZERS, "optimizer", self.optimizer)
        _require_one_of(LOSSES, "loss", self.loss)
        _require(
            self.epochs is None or self.epochs >= 1,
            "epochs",
            self.epochs,
            "1 or more; leave it out to have it chosen",
        )
        _require(
            self.teacher_epochs is None or self.teacher_epochs >= 0,
            "teacher_epochs",
            self.teacher_epochs,
            "0 or more; leave it out to have it chosen",
        )
        most = 1 if self.teacher_epochs == 0 else 99
        _require(
            self.teachers is None or 1 <= self.teachers <= most,
            "teachers",
            self.teachers,
            "1 to 99, and 1 where teacher_epochs is 0; leave it out for 1",
        )
        _require(0 <= self.word_weight <= 100, "word_weight", self.word_weight, "0 to 100")
        _require(
            self.batch_size is None or self.batch_size >= 1,
            "batch_size",
            self.batch_size,
            "1 or more; leave it out to have it chosen",
        )
        _require(
            self.learning_rate is None or 0 < self.learning_rate <= 1,
            "learning_rate",
            self.learning_rate,
            "above 0 and at most 1; leave it out to have it chosen",
        )
        _require(0 <= self.warmup <= 100, "warmup", self.warmup, "0 to 100; 0.1 is customary")
        _require(0 <= self.weight_decay < 1, "weight_decay", self.weight_decay, "at least 0 and below 1")
        _require(0 < self.adam_epsilon < 1, "adam_epsilon", self.adam_epsilon, "above 0 and below 1")
        _require(0 <= self.gamma <= 100, "gamma", self.gamma, "0 to 100; the paper uses 0.1")
        _require(self.patience >= 1, "patience", self.patience, "1 or more")
        _require(0 <= self.tolerance <= 10, "tolerance", self.tolerance, "0 to 10 standard errors; 1 is customary")
        _require(0 < self.dev_share < 1, "dev_share", self.dev_share, "above 0 and below 1")
        _require(self.seed in SEEDS, "seed", self.seed, f"0 to {SEEDS[-1]}")


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


# Weighted soft attention by itself: no teacher, the threshold at 0.5.
PLAIN = TrainConfig(teacher_epochs=0, teachers=1, calibrated=False)

PRESETS: dict[str, tuple[ModelConfig, TrainConfig]] = {
    "default": (ModelConfig(), TrainConfig()),
    # Bujel, Yannakoudakis & Rei 2021, appendix "Hyperparameters"; the whole depth of RoBERTa has 12 layers.
    "paper": (
        ModelConfig(encoder="roberta-base", depth=12, beta=2.0, attention_size=100, window=128),
        replace(PLAIN, epochs=20, batch_size=16, learning_rate=2e-5, patience=20, tolerance=0.0),
    ),
    # The paper as its reference code has it, which differs from what it says. Left out: LIME without attention mask,
    # which would be a way of scoring, not of training, and six times as slow for the padding it attends to.
    "reference": (
        ModelConfig(
            encoder="roberta-base",
            depth=12,
            beta=2.0,
            attention_size=100,
            window=128,
            tokenization="reference",
        ),
        replace(
            PLAIN,
            epochs=20,
            batch_size=16,
            learning_rate=2e-5,
            warmup=0.1 * 16,  # it counts sentences, 16 to a step
            loss="twice-squashed",
            patience=20,
            tolerance=0.0,
        ),
    ),
    # Rei & Søgaard 2018, and the configuration of their public code; the encoder's are in `research/bilstm.py`.
    "bilstm": (
        ModelConfig(encoder="bilstm", tokenization="words", beta=1.0, attention_size=100, hidden_size=50, dropout=0.0),
        replace(
            PLAIN,
            epochs=200,
            batch_size=32,
            learning_rate=1.0,
            optimizer="adadelta",
            loss="squared",
            gamma=0.01,
            patience=7,
            tolerance=0.0,
        ),
    ),
}

C = TypeVar("C", ModelConfig, TrainConfig)


def from_dict(kind: type[C], values: dict[str, Any]) -> C:
    """A configuration from saved or typed values; unknown names are refused."""
    values = _renamed_model(values) if kind is ModelConfig else _renamed_training(values)
    known = [field.name for field in fields(kind)]
    for name in values:
        if name not in known:
            raise ZerotagError(f"unknown setting {name!r}; there are: {', '.join(known)}")
    return kind(**values)


_TOKENIZATIONS = {
    (False, False, False): "text",
    (True, False, False): "lone-words",
    (False, True, False): "attend-to-end",
    (True, True, True): "reference",
}


def _renamed_model(values: dict[str, Any]) -> dict[str, Any]:
    """Settings of a model as they are called now, in model folders and experiments from before they were renamed."""
    left = dict(values)
    flags = tuple(left.pop(name, False) is True for name in ("lone_words", "attend_to_end", "truncate"))
    vectors = left.pop("vectors", None)
    encoder = left.get("encoder", PACKAGED_ENCODER)
    if left.keys() == values.keys():
        return left
    if flags not in _TOKENIZATIONS:
        raise ZerotagError("lone_words, attend_to_end and truncate go alone or all three together: see tokenization")
    if vectors is not None and encoder != "bilstm":
        raise ZerotagError(f"vectors {vectors!r} is out of range; allowed: none, but for encoder 'bilstm'")
    if vectors is not None:
        left["encoder"] = f"{encoder}:{vectors}"
    if any(flags) or "tokenization" not in left:
        left["tokenization"] = "words" if encoder == "bilstm" else _TOKENIZATIONS[flags]
    return left


def _renamed_training(values: dict[str, Any]) -> dict[str, Any]:
    """The same for settings of a training."""
    left = dict(values)
    if left.pop("warmup_unit", "steps") == "sentences":
        left["warmup"] = left.get("warmup", 0.1) * (left.get("batch_size") or 16)
    return left
