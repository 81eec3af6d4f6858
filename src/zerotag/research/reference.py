"""How the reference code of Bujel, Yannakoudakis & Rei (2021) reads texts, for comparison alone.

Encoders learnt from running text, so none of this does them good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from zerotag.text.alignment import Aligner, Encoded, well_formed
from zerotag.text.batches import Batch
from zerotag.types import IntArray, Sentence


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


class EndAligner(Aligner):
    """Lets the special tokens that end a sentence take part in attention and losses, though they are no word's."""

    attends_to_end = True

    def batch(self, sentences: Sequence[Encoded], *, length_step: int = 1) -> Batch:
        """Pad the windows of the sentences into one batch."""
        batch = super().batch(sentences, length_step=length_step)
        if batch.stitch is None:
            return batch
        size = len(self.frame.suffix)
        room = np.zeros((len(sentences), size), np.int64)
        token_mask, stitch = np.hstack([batch.token_mask, room.astype(np.bool_)]), np.hstack([batch.stitch, room])
        last = np.flatnonzero(np.diff(batch.sentence_of_window, append=len(sentences)))
        for row, sentence in enumerate(sentences):
            # The end of a sentence is that of its last window.
            within = self.offset + len(sentence) - self.windows(len(sentence))[-1]
            token_mask[row, len(sentence) :][:size] = True
            stitch[row, len(sentence) :][:size] = last[row] * batch.input_ids.shape[1] + within + np.arange(size)
        return replace(batch, token_mask=token_mask, stitch=stitch)


class FirstWindowAligner(Aligner):
    """Reads one window of a sentence and no more: the words past it score 0."""

    def cut(self, encoded: Encoded) -> Encoded:
        """The first window of a sentence."""
        if len(encoded) <= self.capacity:
            return encoded
        kept = encoded.pair_tokens < self.capacity
        if not kept.any():
            return self._unknown(encoded.words)
        return Encoded(encoded.ids[: self.capacity], encoded.pair_tokens[kept], encoded.pair_words[kept], encoded.words)


class ReferenceAligner(LoneWordAligner, EndAligner, FirstWindowAligner):
    """All three at once, as the reference code does."""
