"""The BiLSTM of Rei & Søgaard (2018): words and their characters in, the output shape of a transformer out.

As in the paper and its public code: words in lower case with digits as 0, characters as they are written; the sizes,
the dropouts and the initial values below; the head, losses and optimizer of `PRESETS["bilstm"]`. Their language-model
losses are left out, since their own configuration for this task switches them off.

Not as there: the vocabulary comes from the training sentences alone, where they add the words of the development and
test sets; batches hold sentences of like length; only the first `LONGEST_SPELLING` characters of a word are
read; PyTorch's LSTM has two biases per gate, which add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import FloatTensor, Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import BaseModelOutput

from zerotag.modeling.encoders import EncoderSpec
from zerotag.research.vocabulary import UNKNOWN_NUMBER, Vocabulary, read_vectors
from zerotag.text.alignment import Encoded
from zerotag.text.batches import Batch
from zerotag.text.whole_words import WholeWordAligner
from zerotag.types import IntArray, Sentence

UNKNOWN_CHARACTER = 0
NO_CHARACTER = -1
LONGEST_SPELLING = 64  # characters; the rest of a word, as in a web address, is not read


class BiLstmConfig(PreTrainedConfig):
    """The shape of a BiLSTM; the sizes are the published ones."""

    model_type = "zerotag-bilstm"

    vocab_size: int = 2
    first_singleton: int = 2
    """Words from this number on were seen once in training."""

    alphabet: str = ""
    """The characters seen in training, by code point."""

    word_size: int = 300
    character_size: int = 100
    character_lstm_size: int = 100
    character_hidden_size: int = 50
    word_lstm_size: int = 300
    hidden_size: int = 200
    dropout: float = 0.5
    """On the words as the LSTM reads them, and on its states: there the same units all along the sentence."""

    singleton_dropout: float = 0.1
    """How often a word seen once in training is read as an unknown one, while training."""

    num_hidden_layers: int = 1


class BiLstm(PreTrainedModel):
    """Word vectors beside a character BiLSTM's last states, a word BiLSTM over both, and a dense layer on top."""

    config_class = BiLstmConfig
    config: BiLstmConfig
    code_points: Tensor

    def __init__(self, config: BiLstmConfig) -> None:
        super().__init__(config)
        self.words = nn.Embedding(config.vocab_size, config.word_size)
        self.characters = nn.Embedding(len(config.alphabet) + 1, config.character_size)
        self.character_lstm = _bilstm(config.character_size, config.character_lstm_size)
        self.character_hidden = nn.Linear(2 * config.character_lstm_size, config.character_hidden_size)
        self.word_lstm = _bilstm(config.word_size + config.character_hidden_size, config.word_lstm_size)
        self.word_hidden = nn.Linear(2 * config.word_lstm_size, config.hidden_size)
        self.register_buffer("code_points", torch.tensor([*map(ord, config.alphabet)]), persistent=False)
        self.post_init()  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Glorot's uniform values, no biases, except for forget gates that start open."""
        if isinstance(module, nn.Embedding):
            nn.init.xavier_uniform_(module.weight)
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LSTM):
            # The published code keeps the weights of inputs and states in one matrix, which sets their bound.
            bound = math.sqrt(6 / (module.input_size + 5 * module.hidden_size))
            for name, weight in module.named_parameters():
                if name.startswith("weight"):
                    nn.init.uniform_(weight, -bound, bound)
                else:
                    nn.init.zeros_(weight)
                    if name.startswith("bias_ih"):
                        weight[module.hidden_size : 2 * module.hidden_size] = 1

    def forward(self, input_ids: Tensor, attention_mask: Tensor, characters: Tensor) -> BaseModelOutput:
        """Encode the words of W windows, padded to L words: (W, L, hidden_size).

        `input_ids` (W, L) are the words' numbers in the vocabulary, and `characters` (W, L, C) their code points,
        padded with -1.
        """
        # Full precision also where the rest runs in half: time goes into many small steps, which half does not help.
        with torch.autocast(input_ids.device.type, enabled=False):
            # Each distinct word is spelled once.
            distinct, spellings = torch.unique(characters.flatten(0, 1), dim=0, return_inverse=True)
            spelled = self._spell(distinct)[spellings].view(*input_ids.shape, -1)
            words = torch.cat([self.words(self._forget(input_ids)), spelled], dim=-1)
            words = F.dropout(words, self.config.dropout, self.training)
            lengths = attention_mask.sum(dim=1).cpu()
            packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
            states, _ = pad_packed_sequence(
                self.word_lstm(packed)[0], batch_first=True, total_length=input_ids.shape[1]
            )
            kept = F.dropout(torch.ones_like(states[:, :1]), self.config.dropout, self.training)
            hidden = torch.tanh(self.word_hidden(states * kept))
        return BaseModelOutput(last_hidden_state=cast(FloatTensor, hidden))

    def _forget(self, words: Tensor) -> Tensor:
        """Now and then a rare word becomes the unknown one, which learns from it."""
        if not self.training:
            return words
        drawn = torch.rand(words.shape, device=words.device) < self.config.singleton_dropout
        return words.masked_fill(drawn & (words >= self.config.first_singleton), UNKNOWN_NUMBER)

    def _spell(self, characters: Tensor) -> Tensor:
        """Vectors of words by their characters alone, from code points (words, C): (words, character_hidden_size)."""
        place = torch.searchsorted(self.code_points, characters).clamp(max=len(self.code_points) - 1)
        known = self.code_points[place] == characters
        letters = self.characters(torch.where(known, place + 1, UNKNOWN_CHARACTER))
        lengths = (characters >= 0).sum(dim=1).clamp(min=1).cpu()
        packed = pack_padded_sequence(letters, lengths, batch_first=True, enforce_sorted=False)
        _, (last, _) = self.character_lstm(packed)
        return torch.tanh(self.character_hidden(torch.cat([last[0], last[1]], dim=-1)))


def _bilstm(inputs: int, states: int) -> nn.LSTM:
    return nn.LSTM(inputs, states, batch_first=True, bidirectional=True)


def new_bilstm(sentences: Sequence[Sentence], vectors: Path | None) -> tuple[BiLstm, PreTrainedTokenizerFast]:
    """An untrained BiLSTM that knows the words and characters of some sentences, and its tokenizer.

    Word vectors come from the text file `vectors`, if there is one, and start at random where it has none; all of
    them are trained.
    """
    vocabulary = Vocabulary.of(sentences)
    config = BiLstmConfig(
        vocab_size=len(vocabulary.numbers),
        first_singleton=vocabulary.first_singleton,
        alphabet=vocabulary.alphabet,
    )
    if vectors is None:
        return BiLstm(config), vocabulary.tokenizer()
    numbers, values = read_vectors(vectors, vocabulary)
    config.word_size = values.shape[1]
    encoder = BiLstm(config)
    with torch.no_grad():
        encoder.words.weight[numbers] = torch.from_numpy(values)
    return encoder, vocabulary.tokenizer()


@dataclass(frozen=True, slots=True, eq=False)
class Spelled(Encoded):
    """A sentence as words, of which each is one token."""

    spellings: tuple[str, ...] = ()
    """The words as they are written, token by token."""


class WordAligner(WholeWordAligner):
    """For an encoder whose tokens are whole words, which it also spells."""

    reads_sub_words_alone = False

    def _aligned(self, words: Sequence[str], ids: IntArray, places: IntArray) -> Encoded:
        if not len(ids):  # nothing but empty words
            return self._unknown(len(words))
        return Spelled(ids, np.arange(len(ids)), places, len(words), spellings=tuple(words[place] for place in places))

    def _unknown(self, words: int) -> Spelled:
        encoded = super()._unknown(words)
        return Spelled(encoded.ids, encoded.pair_tokens, encoded.pair_words, words, spellings=("",))

    def batch(self, sentences: Sequence[Encoded], *, length_step: int = 1) -> Batch:
        """Pad the windows of the sentences into one batch."""
        batch = super().batch(sentences, length_step=length_step)
        rows = [
            sentence.spellings[start : start + self.capacity] if isinstance(sentence, Spelled) else ()
            for sentence in sentences
            for start in self.windows(len(sentence))
        ]
        longest = max((len(word) for words in rows for word in words), default=0)
        characters = np.full((*batch.input_ids.shape, min(LONGEST_SPELLING, longest) or 1), NO_CHARACTER, np.int64)
        for row, words in zip(characters, rows, strict=True):
            for place, word in zip(row, words, strict=False):
                codes = [*map(ord, word[:LONGEST_SPELLING])]
                place[: len(codes)] = codes
        return replace(batch, extra={"characters": characters})


def _start(vectors: str, sentences: Sequence[Sentence]) -> tuple[BiLstm, PreTrainedTokenizerFast]:
    return new_bilstm(sentences, Path(vectors) if vectors else None)


# So that a saved model is found again by the type in its configuration, as any other encoder is.
AutoConfig.register(BiLstmConfig.model_type, BiLstmConfig)
AutoModel.register(BiLstmConfig, BiLstm)

ENCODER = EncoderSpec(start=_start, model_type=BiLstmConfig.model_type, tokenization="words")
