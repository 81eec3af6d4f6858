"""A tiny network, and batches with labels and targets that it may learn from."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

import tiny
from zerotag.config import ChosenTrainConfig, ModelConfig
from zerotag.modeling.network import Network
from zerotag.text.alignment import Aligner
from zerotag.text.batches import Batch
from zerotag.types import Sentence

RATES = (0.01, 0.02, 0.005, 0.01, 0.003, 0.001)
TRAINING = ChosenTrainConfig(learning_rate=0.01)
CONFIG = ModelConfig(encoder="tiny", depth=2, window=32)
LABELS = ("a", "b")


def network_and_aligner(family: str = "bert") -> tuple[Network, Aligner]:
    labeller = tiny.labeller(family, labels=LABELS, config=CONFIG)
    return labeller.network, labeller.aligner


def lessons(aligner: Aligner, length_step: int = 1) -> list[tuple[Batch, Tensor, Tensor]]:
    """Batches of two shapes in turn, their labels, and what their tokens should score; one for each rate."""
    draw = np.random.default_rng(0)
    words = [word for sentence, _ in tiny.sentences(40) for word in sentence]
    made = []
    for number in range(len(RATES)):
        texts = [words[place : place + (4 if number % 2 else 12)] for place in draw.integers(0, 100, 3)]
        sentences = aligner.encode([Sentence.from_words(text) for text in texts])
        batch = aligner.batch(sentences, length_step=length_step)
        values = [draw.random((len(sentence), len(LABELS))).astype(np.float32) for sentence in sentences]
        labels = draw.integers(0, 2, (len(sentences), len(LABELS))).astype(np.float32)
        made.append((batch, torch.from_numpy(labels), torch.from_numpy(aligner.spread(batch, values))))
    return made


def without_dropout(network: Network) -> None:
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    network.encoder.config.attention_probs_dropout_prob = 0.0
