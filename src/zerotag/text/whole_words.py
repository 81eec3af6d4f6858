"""Aligners and tokenizers of encoders whose tokens are whole words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from tokenizers import Tokenizer, normalizers
from tokenizers.models import WordLevel

from zerotag.text.alignment import Aligner, Encoded, well_formed
from zerotag.types import IntArray, Sentence

PADDING, UNKNOWN, MASK = "[PAD]", "[UNK]", "[MASK]"
"""Special tokens; words are looked up in lower case, so that no word of a text is mistaken for one of these."""

_LOWER = normalizers.Lowercase()


def lower_case_tokenizer(sentences: Iterable[Sentence]) -> Tokenizer:
    """A tokenizer whose tokens are the words of some sentences in lower case, in the order of the alphabet."""
    written = {well_formed(word) for sentence in sentences for word in sentence.words}
    words = sorted({str(_LOWER.normalize_str(word)) for word in written} - {""})
    numbers = {word: number for number, word in enumerate([PADDING, UNKNOWN, MASK, *words])}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=UNKNOWN))
    tokenizer.normalizer = _LOWER
    return tokenizer


class WholeWordAligner(Aligner):
    """For an encoder whose tokens are whole words."""

    def encode_whole(self, sentences: Sequence[Sentence]) -> list[Encoded]:
        """Words of many sentences at once, each one token."""
        words = [[*map(well_formed, sentence.words)] for sentence in sentences]
        encodings = self._tokenizer.encode_batch(words, is_pretokenized=True, add_special_tokens=False)
        return [
            self._aligned(its_words, np.asarray(encoding.ids, np.int64), np.asarray(encoding.word_ids, np.int64))
            for its_words, encoding in zip(words, encodings, strict=True)
        ]

    def _aligned(self, words: Sequence[str], ids: IntArray, places: IntArray) -> Encoded:
        """A sentence of which the tokenizer knows the words in some places: of empty ones there is no token."""
        return Encoded(ids, np.arange(len(ids)), places, len(words)) if len(ids) else self._unknown(len(words))
