"""Settings to start from, by name: the recipe, and those of published work."""

from __future__ import annotations

from dataclasses import replace

from zerotag.config import LEXICAL, ModelConfig, TrainConfig
from zerotag.errors import ZerotagError

# Weighted soft attention by itself: no teacher, the threshold at 0.5.
PLAIN = TrainConfig(teacher_epochs=0, teachers=1, calibrated=False)
# The paper draws its batches at random.
OF_PAPER = replace(PLAIN, group_by_length=False)
# Bujel, Yannakoudakis & Rei 2021, appendix "Hyperparameters"; the whole depth of RoBERTa has 12 layers.
PAPER = (
    ModelConfig(encoder="roberta-base", depth=12, beta=2.0, attention_size=100, window=128),
    replace(OF_PAPER, epochs=20, batch_size=16, learning_rate=2e-5, patience=20, tolerance=0.0),
)

PRESETS: dict[str, tuple[ModelConfig, TrainConfig]] = {
    "default": (ModelConfig(), TrainConfig()),
    # What one would try first: which words tell the label, by themselves.
    "lexical": (
        ModelConfig(encoder=LEXICAL[0], head=LEXICAL[1], tokenization="unigrams", depth=1),
        TrainConfig(epochs=1, teacher_epochs=0, teachers=1),
    ),
    "paper": PAPER,
    # The paper as its reference code has it, which differs from what it says, but for what `LEFT_OUT` names.
    "reference": (
        replace(PAPER[0], tokenization="reference"),
        replace(PAPER[1], warmup=0.1 * 16, loss="twice-squashed"),  # it counts sentences, 16 to a step
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

LEFT_OUT = {
    "reference": (
        "the preset follows the paper's reference code but for these: weights start from Xavier's uniform "
        "distribution, not the normal one; a checkpoint is taken after each epoch, not every 500 steps; the last of "
        "equally good ones is kept, not the first; and attention heads and LIME do not attend to padding"
    )
}
"""What a preset does otherwise than the published code it is named after; it is said when it is used."""


def preset(name: str) -> tuple[ModelConfig, TrainConfig]:
    """The settings of a preset.

    Raises:
        ZerotagError: there is none of that name.
    """
    if name not in PRESETS:
        raise ZerotagError(f"unknown preset {name[:40]!r}; there are: {', '.join(PRESETS)}")
    return PRESETS[name]
