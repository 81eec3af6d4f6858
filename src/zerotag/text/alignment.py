"""Words and sub-words: which belong together, windows over long input, hidden words, padding. Numpy only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from zerotag.errors import ZerotagError
from zerotag.text.tokenization import Tokens, tokenize_with
from zerotag.types import FloatArray, IntArray, Sentence

MOST_SUBWORDS = 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A sentence as sub-words, without special ones.

    Sub-word `pair_tokens[i]` covers (part of) word `pair_words[i]`: most often one pair per sub-word, but a sub-word
    may straddle two words (`."`), and a word may have none (a lone control character).
    """

    ids: IntArray
    pair_tokens: IntArray
    pair_words: IntArray
    words: int
    hidden: IntArray | None = None
    """Sub-words that no other may see, and that take no part in attention."""

    def __len__(self) -> int:
        return len(self.ids)

    def hiding(self, word: int) -> Encoded:
        """The same sentence with one of its words hidden, if that leaves something to see."""
        its_tokens = self.pair_tokens[self.pair_words == word]
        return replace(self, hidden=its_tokens) if len(its_tokens) < len(self.ids) else self

    @property
    def visible(self) -> IntArray:
        """The sub-words of words that are not hidden."""
        return self.pair_tokens if self.hidden is None else np.setdiff1d(self.pair_tokens, self.hidden)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Padded windows for the encoder, and how its output becomes sentences again.

    W windows of L sub-words make S sentences of T tokens. Where each sentence fits one window, the two are the same
    grid and `stitch` is None; otherwise `stitch[s, t]` is token t of sentence s in the flattened (W × L) output.
    """

    input_ids: IntArray  # (W, L)
    attention_mask: IntArray  # (W, L)
    token_mask: NDArray[np.bool_]  # (S, T): tokens of words; special ones and padding are left out
    sentence_of_window: IntArray  # (W,)
    stitch: IntArray | None  # (S, T)
    extra: Mapping[str, IntArray] = field(default_factory=dict)  # (W, L, ...): what else the encoder takes, by name


class Aligner:
    """Turns sentences into sub-words and batches, and token scores back into word scores."""

    reads_sub_words_alone = True
    """Whether sub-words are all that the encoder needs; then batches can be made without the aligner."""

    def __init__(self, tokenizer: Tokenizer, *, window: int, pad_id: int) -> None:
        # A copy, since a saved tokenizer brings truncation and padding settings along that would cut words off;
        # and a text that spells "[SEP]" or "</s>" must not smuggle in a special token.
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._prefix, self._suffix = (np.asarray(ids, np.int64) for ids in _special_tokens(self._tokenizer))
        self._tokenizer.encode_special_tokens = True
        self._tokenize = tokenize_with(self._tokenizer)
        added = self._tokenizer.get_added_tokens_decoder()
        self.highest_id = max(self._tokenizer.get_vocab().values())
        if self.highest_id >= MOST_SUBWORDS:
            raise ZerotagError(f"sub-word {self.highest_id} is out of range; allowed: below {MOST_SUBWORDS}")
        self._special = np.zeros(1 + self.highest_id, np.bool_)
        self._special[[number for number, token in added.items() if token.special]] = True
        self._pad_id = pad_id
        self._window = window
        self.offset = len(self._prefix)  # where in a window the sentence's own sub-words begin
        self.capacity = window - len(self._prefix) - len(self._suffix)

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._tokenizer.encode_special_tokens = True  # which copies of a tokenizer forget

    def encode(self, sentences: Sequence[Sentence]) -> list[Encoded]:
        """Sub-words of many sentences at once, as far as they are to be read."""
        return [*map(self.cut, self.encode_whole(sentences))]

    def cut(self, encoded: Encoded) -> Encoded:
        """As much of a sentence as is to be read: all of it."""
        return encoded

    def encode_whole(self, sentences: Sequence[Sentence]) -> list[Encoded]:
        """Sub-words of many sentences at once, whatever their length."""
        return [*self._align(sentences, self._tokenize([well_formed(sentence.text) for sentence in sentences]))]

    def _align(self, sentences: Sequence[Sentence], tokenized: Tokens) -> Iterator[Encoded]:
        """Match sub-words to words by their offsets, all sentences at once, as if their texts were one."""
        words = np.array([len(sentence.spans) for sentence in sentences], np.int64)
        tokens = tokenized.counts
        ids = self._ordinary(tokenized.ids)
        place = _before(np.array([len(sentence.text) + 1 for sentence in sentences], np.int64))
        starts, ends = (flat(s.spans for s in sentences) + np.repeat(place, words)[:, None]).T
        first = np.searchsorted(ends, tokenized.starts, side="right")
        last = np.searchsorted(starts, tokenized.ends, side="left")
        covered = np.maximum(last - first, 0)
        pair_tokens = np.repeat(np.arange(len(ids)), covered)
        pair_words = first[pair_tokens] + np.arange(len(pair_tokens)) - _before(covered)[pair_tokens]
        of_sentence = np.repeat(np.repeat(np.arange(len(words)), tokens), covered)
        pairs = np.bincount(of_sentence, minlength=len(words))
        pair_tokens -= _before(tokens)[of_sentence]
        pair_words -= _before(words)[of_sentence]
        t = p = 0
        for its_tokens, its_words, its_pairs in zip(tokens.tolist(), words.tolist(), pairs.tolist(), strict=True):
            there = slice(p, p + its_pairs)
            if its_pairs:
                yield Encoded(ids[t : t + its_tokens], pair_tokens[there], pair_words[there], its_words)
            else:
                yield self._unknown(its_words)
            t, p = t + its_tokens, p + its_pairs

    def _unknown(self, words: int) -> Encoded:
        """For a sentence of which the tokenizer knows nothing: one placeholder stands for it all."""
        ids = np.array([self._placeholder()], np.int64)
        return Encoded(ids, np.zeros(words, np.int64), np.arange(words), words)

    def _ordinary(self, ids: Sequence[int] | IntArray) -> IntArray:
        """Unigram models know special tokens as ordinary pieces, too, and find them in a text that spells them."""
        found = np.asarray(ids, np.int64)
        smuggled = self._special[found]
        return np.where(smuggled, self._placeholder(), found) if smuggled.any() else found

    def _placeholder(self) -> int:
        """The unknown sub-word: what the tokenizer makes of a character that does not exist."""
        unknown = self._tokenizer.model.tokenize("\uffff")
        return unknown[0].id if unknown else self._pad_id

    def windows(self, length: int) -> list[int]:
        """Where the windows of a sentence of `length` sub-words start: neighbours share a quarter of a window."""
        if length <= self.capacity:
            return [0]
        stride = max(1, self.capacity * 3 // 4)
        starts = list(range(0, length - self.capacity, stride))
        return [*starts, length - self.capacity]

    def cost(self, encoded: Encoded) -> tuple[int, int]:
        """How many windows a sentence takes, and how many sub-words, special ones included, each holds."""
        specials = len(self._prefix) + len(self._suffix)
        return len(self.windows(len(encoded))), min(len(encoded), self.capacity) + specials

    def batch(self, sentences: Sequence[Encoded], *, length_step: int = 1) -> Batch:
        """Pad the windows of the sentences into one batch, to a multiple of `length_step` if the window allows it."""
        starts = [self.windows(len(sentence)) for sentence in sentences]
        pieces: list[IntArray] = []
        lengths: list[int] = []
        for sentence, its_starts in zip(sentences, starts, strict=True):
            for start in its_starts:
                ids = sentence.ids[start : start + self.capacity]
                pieces += [self._prefix, ids, self._suffix]
                lengths.append(len(self._prefix) + len(ids) + len(self._suffix))
        longest = min(-(-max(lengths) // length_step) * length_step, self._window)
        filled = np.arange(longest) < np.asarray(lengths)[:, None]
        input_ids = np.full(filled.shape, self._pad_id, np.int64)
        input_ids[filled] = np.concatenate(pieces)
        attention_mask = filled.astype(np.int64)
        self._hide(attention_mask, sentences, starts)
        counts = [len(its_starts) for its_starts in starts]
        if max(counts) == 1:
            token_mask, stitch = np.zeros(filled.shape, np.bool_), None
            for row, sentence in enumerate(sentences):
                token_mask[row, len(self._prefix) + sentence.visible] = True
        else:
            token_mask, stitch = self._stitch(sentences, starts, longest)
        return Batch(input_ids, attention_mask, token_mask, np.repeat(np.arange(len(sentences)), counts), stitch)

    def _hide(self, attention_mask: IntArray, sentences: Sequence[Encoded], starts: Sequence[list[int]]) -> None:
        of_window = [(sentence, start) for sentence, its in zip(sentences, starts, strict=True) for start in its]
        for row, (sentence, start) in enumerate(of_window):
            if sentence.hidden is not None:
                columns = sentence.hidden - start
                inside = (columns >= 0) & (columns < self.capacity)
                attention_mask[row, len(self._prefix) + columns[inside]] = 0

    def _stitch(
        self, sentences: Sequence[Encoded], starts: Sequence[list[int]], row_length: int
    ) -> tuple[NDArray[np.bool_], IntArray]:
        longest = max(map(len, sentences))
        token_mask = np.zeros((len(sentences), longest), np.bool_)
        stitch = np.zeros((len(sentences), longest), np.int64)
        row = 0
        for s, (sentence, its_starts) in enumerate(zip(sentences, starts, strict=True)):
            token_mask[s, sentence.visible] = True
            window = best_windows(len(sentence), its_starts, self.capacity)
            position = np.arange(len(sentence)) - np.asarray(its_starts)[window] + len(self._prefix)
            stitch[s, : len(sentence)] = (row + window) * row_length + position
            row += len(its_starts)
        return token_mask, stitch

    def spread(self, batch: Batch, values: Sequence[FloatArray]) -> FloatArray:
        """Put each sentence's own token values, (tokens, K), where a batch has its tokens: (S, T, K)."""
        skip = len(self._prefix) if batch.stitch is None else 0
        spread = np.zeros((*batch.token_mask.shape, values[0].shape[1]), np.float32)
        for row, own in zip(spread, values, strict=True):
            row[skip : skip + len(own)] = own
        return spread

    def tokens(self, batch: Batch, scores: FloatArray, sentences: Sequence[Encoded]) -> Iterator[FloatArray]:
        """Cut a batch's scores (S, T, K) into each sentence's own token scores (tokens, K)."""
        skip = len(self._prefix) if batch.stitch is None else 0
        for row, sentence in zip(scores, sentences, strict=True):
            yield row[skip : skip + len(sentence)]


def _before(counts: IntArray) -> IntArray:
    """How many there are before each."""
    before: IntArray = np.cumsum(counts) - counts
    return before


def flat(pairs: Iterable[Iterable[tuple[int, int]]]) -> IntArray:
    """Pairs of all sentences: (all, 2)."""
    numbers = chain.from_iterable(chain.from_iterable(pairs))
    return np.fromiter(numbers, np.int64).reshape(-1, 2)


def word_scores(encoded: Encoded, token_scores: FloatArray) -> FloatArray:
    """The highest score among a word's sub-words, (words, K); 0 for a word that has none."""
    scores = np.full((encoded.words, token_scores.shape[1]), -np.inf, np.float32)
    np.maximum.at(scores, encoded.pair_words, token_scores[encoded.pair_tokens])
    return np.where(np.isneginf(scores), np.float32(0), scores)


def on_tokens(sentence: Encoded, words: FloatArray) -> FloatArray:
    """Word values as token values, (tokens, K); a token of two words takes the higher, one of no word 0."""
    tokens = np.zeros((len(sentence), words.shape[1]), np.float32)
    np.maximum.at(tokens, sentence.pair_tokens, words[sentence.pair_words])
    return tokens


def best_windows(length: int, starts: Sequence[int], capacity: int) -> IntArray:
    """For each sub-word the window that shows most of its context: (length,)."""
    begin = np.asarray(starts)
    turns = (begin[:-1] + begin[1:] + capacity - 1) / 2  # the middle of what two neighbouring windows share
    best: IntArray = np.searchsorted(turns, np.arange(length))
    return best


def well_formed(text: str) -> str:
    """The text with halves of surrogate pairs, which JSON can hold and tokenizers refuse, as question marks."""
    return text.encode(errors="replace").decode()


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """What the tokenizer puts before and after a sentence."""
    bare = tokenizer.encode("a", add_special_tokens=False)
    full = tokenizer.encode("a")
    before = next(i for i in range(len(full.ids) - len(bare.ids) + 1) if full.ids[i : i + len(bare.ids)] == bare.ids)
    return full.ids[:before], full.ids[before + len(bare.ids) :]
