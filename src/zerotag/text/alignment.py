"""Words and sub-words: which belong together, windows over long input, hidden words, padding. Numpy only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from zerotag.columns import SentenceColumns
from zerotag.errors import ZerotagError
from zerotag.text.batches import Batch, Frame
from zerotag.text.tokenization import tokenize_with
from zerotag.types import BoolArray, FloatArray, IntArray, Sentence

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
    def attended(self) -> BoolArray:
        """Which sub-words are those of words that are not hidden: (tokens,)."""
        attended = np.zeros(len(self.ids), np.bool_)
        attended[self.pair_tokens] = True
        if self.hidden is not None:
            attended[self.hidden] = False
        return attended


@dataclass(frozen=True, slots=True, eq=False)
class EncodedRow:
    """Many sentences as sub-words, one after the other: what `Encoded` says of each, in arrays of all.

    Places of sub-words and words are counted from the beginning of each sentence.
    """

    ids: IntArray
    pair_tokens: IntArray
    pair_words: IntArray
    tokens: IntArray  # (S,), how many of each kind a sentence has
    pairs: IntArray
    words: IntArray

    @classmethod
    def of(cls, encoded: Sequence[Encoded]) -> EncodedRow:
        """Sentences that were encoded one by one."""
        nothing = np.zeros(0, np.int64)
        return cls(
            *(
                np.concatenate([nothing, *(getattr(one, name) for one in encoded)])
                for name in ("ids", "pair_tokens", "pair_words")
            ),
            *(
                np.array([*counts], np.int64)
                for counts in (map(len, encoded), (len(e.pair_tokens) for e in encoded), (e.words for e in encoded))
            ),
        )

    def encoded(self) -> Iterator[Encoded]:
        """The sentences one by one."""
        t = p = 0
        for tokens, pairs, words in zip(*(c.tolist() for c in (self.tokens, self.pairs, self.words)), strict=True):
            there = slice(p, p + pairs)
            yield Encoded(self.ids[t : t + tokens], self.pair_tokens[there], self.pair_words[there], words)
            t, p = t + tokens, p + pairs

    def as_one(self) -> Encoded:
        """All sentences as if they were one."""
        return Encoded(
            self.ids,
            self.pair_tokens + np.repeat(_before(self.tokens), self.pairs),
            self.pair_words + np.repeat(_before(self.words), self.pairs),
            int(self.words.sum()),
        )


class Aligner:
    """Turns sentences into sub-words and batches, and token scores back into word scores."""

    reads_sub_words_alone = True
    """Whether sub-words are all that the encoder needs; then batches can be made without the aligner."""

    attends_to_end = False
    """Whether the special sub-words at the end of a sentence take part in attention, as those of words do."""

    def __init__(self, tokenizer: Tokenizer, *, window: int, pad_id: int) -> None:
        # A copy, since a saved tokenizer brings truncation and padding settings along that would cut words off;
        # and a text that spells "[SEP]" or "</s>" must not smuggle in a special token.
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        prefix, suffix = (np.asarray(ids, np.int64) for ids in _special_tokens(self._tokenizer))
        self.frame = Frame(prefix, suffix, pad_id, self.attends_to_end)
        self._tokenizer.encode_special_tokens = True
        self._tokenize = tokenize_with(self._tokenizer)
        added = self._tokenizer.get_added_tokens_decoder()
        self.highest_id = max(self._tokenizer.get_vocab().values())
        if self.highest_id >= MOST_SUBWORDS:
            raise ZerotagError(f"sub-word {self.highest_id} is out of range; allowed: below {MOST_SUBWORDS}")
        self._special = np.zeros(1 + self.highest_id, np.bool_)
        self._special[[number for number, token in added.items() if token.special]] = True
        self._window = window
        self.offset = len(prefix)  # where in a window the sentence's own sub-words begin
        self.capacity = window - self.frame.size

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
        return [*self.align(SentenceColumns.of(sentences)).encoded()]

    @property
    def reads_columns(self) -> bool:
        """Whether `align` makes the same of sentences as `encode` does; some aligners have an `encode` of their own."""
        own = type(self)
        return own.encode_whole is Aligner.encode_whole and own.encode is Aligner.encode and own.cut is Aligner.cut

    def align(self, sentences: SentenceColumns) -> EncodedRow:
        """Match sub-words to words by their offsets, all sentences at once, as if their texts were one."""
        tokenized = self._tokenize([*map(well_formed, sentences.texts)])
        words, tokens = sentences.counts, tokenized.counts
        ids = self._ordinary(tokenized.ids)
        lengths = np.fromiter(map(len, sentences.texts), np.int64, len(sentences)) + 1
        starts, ends = (sentences.spans + np.repeat(_before(lengths), words)[:, None]).T
        first = np.searchsorted(ends, tokenized.starts, side="right")
        last = np.searchsorted(starts, tokenized.ends, side="left")
        covered = np.maximum(last - first, 0)
        pair_tokens = np.repeat(np.arange(len(ids)), covered)
        pair_words = first[pair_tokens] + np.arange(len(pair_tokens)) - _before(covered)[pair_tokens]
        of_sentence = np.repeat(np.repeat(np.arange(len(words)), tokens), covered)
        pairs = np.bincount(of_sentence, minlength=len(words))
        pair_tokens -= _before(tokens)[of_sentence]
        pair_words -= _before(words)[of_sentence]
        row = EncodedRow(ids, pair_tokens, pair_words, tokens, pairs, words)
        return row if pairs.all() else self._with_placeholders(row)

    def _with_placeholders(self, row: EncodedRow) -> EncodedRow:
        """The row with one placeholder for all of a sentence of which the tokenizer knows nothing."""
        unknown = row.pairs == 0
        tokens, words = np.where(unknown, 0, row.tokens), row.words[unknown]
        place = np.repeat(_before(row.pairs)[unknown], words)
        return EncodedRow(
            np.insert(row.ids[np.repeat(~unknown, row.tokens)], _before(tokens)[unknown], self._placeholder()),
            np.insert(row.pair_tokens, place, 0),
            np.insert(row.pair_words, place, np.arange(words.sum()) - np.repeat(_before(words), words)),
            np.where(unknown, 1, tokens),
            np.where(unknown, row.words, row.pairs),
            row.words,
        )

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
        return unknown[0].id if unknown else self.frame.padding

    def windows(self, length: int) -> list[int]:
        """Where the windows of a sentence of `length` sub-words start: neighbours share a quarter of a window."""
        if length <= self.capacity:
            return [0]
        stride = max(1, self.capacity * 3 // 4)
        starts = list(range(0, length - self.capacity, stride))
        return [*starts, length - self.capacity]

    def cost(self, encoded: Encoded) -> tuple[int, int]:
        """How many windows a sentence takes, and how many sub-words, special ones included, each holds."""
        return len(self.windows(len(encoded))), min(len(encoded), self.capacity) + self.frame.size

    def batch(self, sentences: Sequence[Encoded], *, length_step: int = 1) -> Batch:
        """Pad the windows of the sentences into one batch, to a multiple of `length_step` if the window allows it."""
        starts = [self.windows(len(sentence)) for sentence in sentences]
        rows = [
            (sentence.ids[start : start + self.capacity], attended[start : start + self.capacity])
            for sentence, attended, its_starts in zip(sentences, [s.attended for s in sentences], starts, strict=True)
            for start in its_starts
        ]
        ids, attended_ids = zip(*rows, strict=True)
        lengths = np.array([*map(len, ids)])
        longest = min(-(-int(lengths.max() + self.frame.size) // length_step) * length_step, self._window)
        batch = self.frame.batch(np.concatenate(ids), np.concatenate(attended_ids), lengths, row_length=longest)
        self._hide(batch.attention_mask, sentences, starts)
        if len(rows) == len(sentences):
            return batch
        token_mask, stitch = self._stitch(sentences, starts, longest)
        of_window = np.repeat(np.arange(len(sentences)), [len(its_starts) for its_starts in starts])
        return replace(batch, token_mask=token_mask, sentence_of_window=of_window, stitch=stitch)

    def _hide(self, attention_mask: IntArray, sentences: Sequence[Encoded], starts: Sequence[list[int]]) -> None:
        of_window = [(sentence, start) for sentence, its in zip(sentences, starts, strict=True) for start in its]
        for row, (sentence, start) in enumerate(of_window):
            if sentence.hidden is not None:
                columns = sentence.hidden - start
                inside = (columns >= 0) & (columns < self.capacity)
                attention_mask[row, self.offset + columns[inside]] = 0

    def _stitch(
        self, sentences: Sequence[Encoded], starts: Sequence[list[int]], row_length: int
    ) -> tuple[NDArray[np.bool_], IntArray]:
        longest = max(map(len, sentences))
        token_mask = np.zeros((len(sentences), longest), np.bool_)
        stitch = np.zeros((len(sentences), longest), np.int64)
        row = 0
        for s, (sentence, its_starts) in enumerate(zip(sentences, starts, strict=True)):
            token_mask[s, : len(sentence)] = sentence.attended
            window = best_windows(len(sentence), its_starts, self.capacity)
            position = np.arange(len(sentence)) - np.asarray(its_starts)[window] + self.offset
            stitch[s, : len(sentence)] = (row + window) * row_length + position
            row += len(its_starts)
        return token_mask, stitch

    def spread(self, batch: Batch, values: Sequence[FloatArray]) -> FloatArray:
        """Put each sentence's own token values, (tokens, K), where a batch has its tokens: (S, T, K)."""
        skip = self.offset if batch.stitch is None else 0
        spread = np.zeros((*batch.token_mask.shape, values[0].shape[1]), np.float32)
        for row, own in zip(spread, values, strict=True):
            row[skip : skip + len(own)] = own
        return spread

    def tokens(self, batch: Batch, scores: FloatArray, sentences: Sequence[Encoded]) -> Iterator[FloatArray]:
        """Cut a batch's scores (S, T, K) into each sentence's own token scores (tokens, K)."""
        skip = self.offset if batch.stitch is None else 0
        for row, sentence in zip(scores, sentences, strict=True):
            yield row[skip : skip + len(sentence)]


def _before(counts: IntArray) -> IntArray:
    """How many there are before each."""
    before: IntArray = np.cumsum(counts) - counts
    return before


def word_scores(encoded: Encoded, token_scores: FloatArray) -> FloatArray:
    """The highest score among a word's sub-words, (words, K); 0 for a word that has none."""
    scores = np.zeros((encoded.words, token_scores.shape[1]), np.float32)
    words, of_pairs = encoded.pair_words, token_scores[encoded.pair_tokens]
    if not len(words):
        return scores
    if (words[1:] < words[:-1]).any():  # a tokenizer may have an order of its own
        order = np.argsort(words, kind="stable")
        words, of_pairs = words[order], of_pairs[order]
    first = np.flatnonzero(np.diff(words, prepend=-1))
    scores[words[first]] = np.maximum.reduceat(of_pairs, first)
    return scores


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
    return text if text.isascii() else text.encode(errors="replace").decode()


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """What the tokenizer puts before and after a sentence."""
    bare = tokenizer.encode("a", add_special_tokens=False)
    full = tokenizer.encode("a")
    before = next(i for i in range(len(full.ids) - len(bare.ids) + 1) if full.ids[i : i + len(bare.ids)] == bare.ids)
    return full.ids[:before], full.ids[before + len(bare.ids) :]
