"""Every setting of a model and of its training, checked on construction and saved with the model."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields, replace
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from zerotag.errors import ZerotagError

Head = Literal["soft-attention", "cls"]
Loss = Literal["cross-entropy", "squared", "twice-squashed"]
WarmupUnit = Literal["steps", "sentences"]
Optimizer = Literal["adamw", "adadelta"]

PACKAGED_ENCODER = "all-MiniLM-L6-v2"
BILSTM = "bilstm"


SEEDS = range(2**32)


def _require(condition: bool, name: str, value: object, allowed: str) -> None:
    if not condition:
        raise ZerotagError(f"{name} {value!r} is out of range; allowed: {allowed}")


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
    """The packaged encoder's name, a folder, a name on the Hugging Face hub, or `bilstm`, which starts from nothing."""

    vectors: str | None = None
    """A file of word vectors for `bilstm` to start from, as text (GloVe, word2vec). None: vectors start at random."""

    head: Head = "soft-attention"
    """`soft-attention` scores words; `cls` is a plain sentence classifier that does not."""

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

    segmenter: str = "unicode"
    """What splits texts into words, a name in the registry of segmenters: `unicode` for languages written with spaces,
    `whitespace` for text whose words are parted already, or one of an installed package."""

    window: int = 512
    """Sub-words encoded at once, special ones included; longer sentences take several overlapping windows."""

    lone_words: bool = False
    """Tokenize every word by itself, in lower case and without the space before it. Encoders learnt from running text,
    so this is only for comparison with the paper's reference code, as are the next two."""

    attend_to_end: bool = False
    """Let the special token that ends a sentence take part in attention and losses, though it is no word's."""

    truncate: bool = False
    """Read one window of a sentence and no more: the words past it score 0."""

    def __post_init__(self) -> None:
        require_types(self)
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
        if self.encoder == BILSTM:
            _require(self.head == "soft-attention", "head", self.head, "soft-attention, for encoder 'bilstm'")
            _require(not self.lone_words, "lone_words", True, "false, for encoder 'bilstm', which reads words anyway")
        else:
            _require(self.vectors is None, "vectors", self.vectors, "none, but for encoder 'bilstm' (preset bilstm)")


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
    """How many teachers there are, each from a seed of its own; the network learns from their average. None: 4 with a
    GPU; 1 without, where four would take nearly three times as long."""

    word_weight: float = 2.0
    """Weight of what the teacher says of the words, beside the sentence labels."""

    calibrated: bool = True
    """Whether thresholds are chosen, by the sentence labels of the development set, or fixed at 0.5."""

    batch_size: int | None = None
    """Sentences per step. None: 16, or 32 from 10,000 training sentences on."""

    learning_rate: float | None = None
    """Peak rate. None: chosen by the encoder's width (about 1e-4 for 384, 5e-5 for 768), or 1 for AdaDelta."""

    optimizer: Optimizer = "adamw"
    """`adadelta` is for the BiLSTM as published: no warm-up, decay or clipping; the rate falls when dev F1 stands."""

    warmup: float = 0.1
    """Share of AdamW's steps in which the rate climbs; it falls linearly to 0 afterwards."""

    warmup_unit: WarmupUnit = "steps"
    """`sentences` takes as many steps to warm up as there are sentences in that share, as the paper's reference code
    does by mistake: from a batch size of 1 / warmup on, the rate climbs to the end and never reaches its peak."""

    weight_decay: float = 0.1
    """AdamW's decay, not applied to biases and normalisation."""

    adam_epsilon: float = 1e-7
    """AdamW's epsilon."""

    loss: Loss = "cross-entropy"
    """Of the sentence score, where words are found by soft attention: `cross-entropy`, a mean over sentences, or
    `squared` error, a sum over them. `twice-squashed` is the cross-entropy of the paper's reference code, which takes
    a sigmoid's output for a logit."""

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
            "1 to 99, and 1 where teacher_epochs is 0; leave it out to have it chosen",
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
        _require(0 <= self.warmup <= 1, "warmup", self.warmup, "0 to 1")
        _require(0 <= self.weight_decay < 1, "weight_decay", self.weight_decay, "at least 0 and below 1")
        _require(0 < self.adam_epsilon < 1, "adam_epsilon", self.adam_epsilon, "above 0 and below 1")
        _require(0 <= self.gamma <= 100, "gamma", self.gamma, "0 to 100; the paper uses 0.1")
        _require(self.patience >= 1, "patience", self.patience, "1 or more")
        _require(0 <= self.tolerance <= 10, "tolerance", self.tolerance, "0 to 10 standard errors; 1 is customary")
        _require(0 < self.dev_share < 1, "dev_share", self.dev_share, "above 0 and below 1")
        _require(self.seed in SEEDS, "seed", self.seed, f"0 to {SEEDS[-1]}")


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
            lone_words=True,
            attend_to_end=True,
            truncate=True,
        ),
        replace(
            PLAIN,
            epochs=20,
            batch_size=16,
            learning_rate=2e-5,
            warmup_unit="sentences",
            loss="twice-squashed",
            patience=20,
            tolerance=0.0,
        ),
    ),
    # Rei & Søgaard 2018, and the configuration of their public code; the encoder's own settings are in `bilstm.py`.
    "bilstm": (
        ModelConfig(encoder=BILSTM, beta=1.0, attention_size=100, hidden_size=50, dropout=0.0),
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
    known = [field.name for field in fields(kind)]
    for name in values:
        if name not in known:
            raise ZerotagError(f"unknown setting {name!r}; there are: {', '.join(known)}")
    return kind(**values)
