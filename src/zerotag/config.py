"""Every setting of a model and of its training, checked on construction and saved with the model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, get_args

from zerotag.errors import ZerotagError

Head = Literal["soft-attention", "cls"]
Loss = Literal["cross-entropy", "squared"]
Optimizer = Literal["adamw", "adadelta"]

PACKAGED_ENCODER = "all-MiniLM-L6-v2"
BILSTM = "bilstm"


def _require(condition: bool, name: str, value: object, allowed: str) -> None:
    if not condition:
        raise ZerotagError(f"{name} {value!r} is out of range; allowed: {allowed}")


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

    attention_size: int = 100
    """Size of the vector from which a token's attention is computed."""

    hidden_size: int = 300
    """Size of the layer between the sentence vector and the sentence score."""

    dropout: float = 0.1
    """Dropout on what the head reads, while training."""

    window: int = 512
    """Sub-words encoded at once, special ones included; longer sentences take several overlapping windows."""

    def __post_init__(self) -> None:
        _require(self.head in get_args(Head), "head", self.head, " or ".join(get_args(Head)))
        _require(self.depth is None or self.depth >= 1, "depth", self.depth, "1 or more; leave it out for auto")
        _require(0 < self.beta <= 64, "beta", self.beta, "above 0 and at most 64; the paper uses 2")
        _require(self.attention_size >= 1, "attention_size", self.attention_size, "1 or more")
        _require(self.hidden_size >= 1, "hidden_size", self.hidden_size, "1 or more")
        _require(0 <= self.dropout < 1, "dropout", self.dropout, "at least 0 and below 1")
        _require(self.window >= 16, "window", self.window, "16 or more")
        if self.encoder == BILSTM:
            _require(self.head == "soft-attention", "head", self.head, "soft-attention, for encoder 'bilstm'")
        else:
            _require(self.vectors is None, "vectors", self.vectors, "none, but for encoder 'bilstm'")


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How a network is trained."""

    epochs: int = 6
    """Passes over the training sentences; the best by sentence F1 on the development set is kept."""

    batch_size: int = 16
    """Sentences per step."""

    learning_rate: float | None = None
    """Peak rate. None: chosen by the encoder's width (about 1e-4 for 384, 5e-5 for 768), or 1 for AdaDelta."""

    optimizer: Optimizer = "adamw"
    """`adadelta` is for the BiLSTM as published: no warm-up, decay or clipping; the rate falls when dev F1 stands."""

    warmup: float = 0.1
    """Share of AdamW's steps in which the rate climbs; it falls linearly to 0 afterwards."""

    weight_decay: float = 0.1
    """AdamW's decay, not applied to biases and normalisation."""

    adam_epsilon: float = 1e-7
    """AdamW's epsilon."""

    loss: Loss = "cross-entropy"
    """Of the sentence score: `cross-entropy`, a mean over sentences, or `squared` error, a sum over them."""

    gamma: float = 0.3
    """Weight of the two losses that push some words of a sentence to 0 and the strongest to the sentence label."""

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
        _require(self.epochs >= 1, "epochs", self.epochs, "1 or more")
        _require(self.batch_size >= 1, "batch_size", self.batch_size, "1 or more")
        _require(
            self.learning_rate is None or 0 < self.learning_rate <= 1,
            "learning_rate",
            self.learning_rate,
            "above 0 and at most 1; leave it out to have it chosen",
        )
        _require(self.optimizer in get_args(Optimizer), "optimizer", self.optimizer, " or ".join(get_args(Optimizer)))
        _require(self.loss in get_args(Loss), "loss", self.loss, " or ".join(get_args(Loss)))
        _require(0 <= self.warmup <= 1, "warmup", self.warmup, "0 to 1")
        _require(0 <= self.weight_decay < 1, "weight_decay", self.weight_decay, "at least 0 and below 1")
        _require(0 < self.adam_epsilon < 1, "adam_epsilon", self.adam_epsilon, "above 0 and below 1")
        _require(0 <= self.gamma <= 100, "gamma", self.gamma, "0 to 100; the paper uses 0.1")
        _require(self.patience >= 1, "patience", self.patience, "1 or more")
        _require(0 <= self.tolerance <= 10, "tolerance", self.tolerance, "0 to 10 standard errors; 1 is customary")
        _require(0 < self.dev_share < 1, "dev_share", self.dev_share, "above 0 and below 1")
        _require(0 <= self.seed < 2**32, "seed", self.seed, "0 to 4294967295")


PRESETS: dict[str, tuple[ModelConfig, TrainConfig]] = {
    "default": (ModelConfig(), TrainConfig()),
    # Bujel, Yannakoudakis & Rei 2021, appendix "Hyperparameters"; the whole depth of RoBERTa has 12 layers.
    "paper": (
        ModelConfig(encoder="roberta-base", depth=12, beta=2.0, window=128),
        TrainConfig(epochs=20, learning_rate=2e-5, gamma=0.1, patience=20, tolerance=0.0),
    ),
    # Rei & Søgaard 2018, and the configuration of their public code; the encoder's own settings are in `bilstm.py`.
    "bilstm": (
        ModelConfig(encoder=BILSTM, beta=1.0, hidden_size=50, dropout=0.0),
        TrainConfig(
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
