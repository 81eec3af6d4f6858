"""Which aligner a model needs: the usual one, or one of those for models whose tokens are not those of running text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from tokenizers import Tokenizer

from zerotag.config import BILSTM, ModelConfig
from zerotag.text.alignment import NO_CHARACTER, Aligner, Batch, Encoded, well_formed
from zerotag.types import IntArray, Sentence

LONGEST_SPELLING = 64  # characters; the rest of a word, as in a web address, is not read


class LoneWordAligner(Aligner):
    """Takes words out of their text, in lower case, as the paper's reference code does."""

    def encode_whole(self, sentences: Sequence[Sentence]) -> list[Encoded]:
        """Sub-words of many sentences at once, each word tokenized by itself without the space before it."""
        words = [well_formed(word.lower()) for sentence in sentences for word in sentence.words]
        ids = iter([self._ordinary(one.ids) for one in self._tokenizer.encode_batch(words, add_special_tokens=False)])
        return [self._joined([*islice(ids, len(sentence.words))]) for sentence in sentences]

    def _joined(self, by_word: Sequence[IntArray]) -> Encoded:
        pair_words = np.repeat(np.arange(len(by_word)), [len(ids) for ids in by_word])
        if not len(pair_words):
            return self._unknown(len(by_word))
        return Encoded(np.concatenate(by_word), np.arange(len(pair_words)), pair_words, len(by_word))


class WordAligner(Aligner):
    """For an encoder whose tokens are whole words, which it also spells."""

    def encode_whole(self, sentences: Sequence[Sentence]) -> list[Encoded]:
        """Words of many sentences at once, each one token."""
        words = [[*map(well_formed, sentence.words)] for sentence in sentences]
        encodings = self._tokenizer.encode_batch(words, is_pretokenized=True, add_special_tokens=False)
        return [
            self._whole_words(its_words, np.asarray(encoding.ids, np.int64), np.asarray(encoding.word_ids, np.int64))
            for its_words, encoding in zip(words, encodings, strict=True)
        ]

    def _whole_words(self, words: Sequence[str], ids: IntArray, places: IntArray) -> Encoded:
        if not len(ids):  # nothing but empty words
            return self._unknown(len(words))
        return Encoded(ids, np.arange(len(ids)), places, len(words), tuple(words[place] for place in places))

    def batch(self, sentences: Sequence[Encoded], *, length_step: int = 1) -> Batch:
        """Pad the windows of the sentences into one batch; words that occur in it more than once are spelled once."""
        batch = super().batch(sentences, length_step=length_step)
        rows = [
            sentence.spellings[start : start + self.capacity]
            for sentence in sentences
            for start in self.windows(len(sentence))
        ]
        numbers = {"": 0}  # which is what padding spells
        spellings = np.zeros_like(batch.input_ids)
        for row, words in enumerate(rows):
            spellings[row, : len(words)] = [numbers.setdefault(word, len(numbers)) for word in words]
        return replace(batch, spellings=spellings, characters=_characters(list(numbers)))


def aligner_for(config: ModelConfig, tokenizer: Tokenizer, *, pad_id: int) -> Aligner:
    """The aligner that makes an encoder's batches."""
    kind = WordAligner if config.encoder == BILSTM else LoneWordAligner if config.lone_words else Aligner
    return kind(
        tokenizer,
        window=config.window,
        pad_id=pad_id,
        attend_to_end=config.attend_to_end,
        truncate=config.truncate,
    )


def _characters(words: Sequence[str]) -> IntArray:
    """Code points of words: (words, longest)."""
    characters = np.full((len(words), min(LONGEST_SPELLING, max(map(len, words)) or 1)), NO_CHARACTER, np.int64)
    for row, word in enumerate(words):
        codes = [*map(ord, word[:LONGEST_SPELLING])]
        characters[row, : len(codes)] = codes
    return characters
