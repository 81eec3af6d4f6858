"""Versions of a sentence with some words replaced by the mask token, and what the network says of each."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import tee
from typing import NamedTuple

import numpy as np

from zerotag.inference.cancellation import check_cancelled
from zerotag.inference.predictor import Predictor, predict_row
from zerotag.inference.prefetch import prefetched
from zerotag.inference.torch_predictor import TorchPredictor, device_of
from zerotag.modeling.network import Network
from zerotag.text.alignment import Aligner, Encoded
from zerotag.text.subwords import SubWords
from zerotag.types import BoolArray, FloatArray, IntArray, Sentence

_AHEAD = 2  # packs that wait for the network while others are made


class Versions(NamedTuple):
    """Which words each version of a sentence keeps, and how often the version was drawn; the first keeps them all."""

    sentence: Sentence
    kept: BoolArray  # (versions, words)
    times: IntArray  # (versions,)


class Masker:
    """Predicts versions of sentences, those of many sentences packed together."""

    def __init__(self, network: Network, aligner: Aligner, mask_id: int) -> None:
        self._network = network
        self._aligner = aligner
        self._mask_id = mask_id
        self.passes = 0

    def probabilities(self, planned: Iterable[Versions]) -> Generator[tuple[Versions, FloatArray]]:
        """The versions of each sentence with their probabilities, (versions, K), in the order they come."""
        to_pack, to_count, to_tell = tee(planned, 3)
        with closing(self._scores(to_pack)) as scores:
            sizes = (len(versions.kept) for versions in to_count)
            yield from zip(to_tell, _regrouped(scores, sizes), strict=True)

    def _scores(self, planned: Iterable[Versions]) -> Generator[FloatArray]:
        """The probabilities of all versions, pack by pack."""
        predictor = TorchPredictor(self._network, sentences_alone=True)

        def work(pack: SubWords) -> FloatArray:
            return predict_row(predictor, self._aligner, pack).sentences

        packs = self._packs(planned, pack_size(predictor))
        yield from prefetched(work, packs, _AHEAD) if has_time(self._network) else map(work, packs)

    def _packs(self, planned: Iterable[Versions], most: int) -> Iterator[SubWords]:
        """The versions, whichever sentences they come from, in packs of about so many sub-words."""
        pack: list[SubWords] = []
        size = 0
        for versions in planned:
            for row in Pieces(self._aligner, versions.sentence, self._mask_id).rows(versions.kept, most):
                check_cancelled()  # here, too: with a GPU the network is called in another thread
                self.passes += len(row.lengths) + sum(self._aligner.cost(one)[0] - 1 for one in row.others.values())
                pack.append(row)
                size += len(row.ids)
                if size >= most:
                    yield SubWords.joined(pack)
                    pack, size = [], 0
        if pack:
            yield SubWords.joined(pack)


def pack_size(predictor: Predictor) -> int:
    """Sub-words in a pack: enough that a GPU is seldom between two, little enough to be done soon after Ctrl-C."""
    return 8 * predictor.token_budget


def has_time(network: Network) -> bool:
    """Whether this process has time for other things while the network is at work."""
    return device_of(network).type == "cuda"


class Pieces:
    """Every sub-word that some version of a sentence needs, in order, and the condition for it to be there.

    Words are replaced among the sub-words rather than in the text, so that nothing is tokenised twice and the words
    around a masked one stay what they were. A word is its own sub-words, with those of the space before it, where it
    is kept, and one mask token where it is not. Words that share a sub-word (`."`) have it while all of them are
    kept; otherwise those that are kept are spelled alone.
    """

    def __init__(self, aligner: Aligner, sentence: Sentence, mask_id: int) -> None:
        self._aligner = aligner
        encoded = aligner.encode_whole([sentence])[0]
        words, tokens = encoded.words, len(encoded)
        joined = np.zeros(words, np.bool_)  # to the word before
        joined[encoded.pair_words[1:][encoded.pair_tokens[1:] == encoded.pair_tokens[:-1]]] = True
        self._group_starts = np.flatnonzero(~joined)
        self._group = np.cumsum(~joined) - 1  # (words,)
        groups = len(self._group_starts)
        sharing = np.flatnonzero(np.bincount(self._group, minlength=groups)[self._group] > 1)
        alone = [one.ids for one in aligner.encode([_with_space_before(sentence, word) for word in sharing.tolist()])]
        spelled = np.repeat(sharing, [len(ids) for ids in alone])

        # Conditions by number: a group of words is whole; always; a word is masked; a word is kept but not its group.
        token_group = np.full(tokens, groups)
        token_group[encoded.pair_tokens] = self._group[encoded.pair_words]
        conditions = [
            np.minimum.accumulate(token_group[::-1])[::-1],  # the group after a space, or always after the last word
            groups + 1 + np.arange(words),
            groups + 1 + words + spelled,
        ]
        # A word's mask token, and its spelling alone, stand where its group ends, one word after the other.
        last_token = np.full(groups, -1)
        np.maximum.at(last_token, self._group[encoded.pair_words], encoded.pair_tokens)
        word_place = np.maximum.accumulate(last_token)[self._group]
        place = np.concatenate([np.arange(tokens), word_place, word_place[spelled]])
        word = np.concatenate([np.full(tokens, -1), np.arange(words), spelled])
        order = np.lexsort((word, place))
        self._ids = np.concatenate([encoded.ids, np.full(words, mask_id), *alone])[order]
        self._condition = np.concatenate(conditions)[order]

        pair_piece = np.argsort(order)[np.concatenate([encoded.pair_tokens, np.arange(tokens, len(order))])]
        by_piece = np.argsort(pair_piece, kind="stable")
        self._pair_piece = pair_piece[by_piece]
        self._pair_word = np.concatenate([encoded.pair_words, word[tokens:]])[by_piece]

    def rows(self, kept: BoolArray, most: int) -> Iterator[SubWords]:
        """The sentence for each row of `kept` (versions, words), which says what it keeps; `most` sub-words at once."""
        at_once = max(1, most // len(self._ids))
        for start in range(0, len(kept), at_once):
            yield self._row(kept[start : start + at_once])

    def _row(self, kept: BoolArray) -> SubWords:
        there = self._there(kept)
        lengths = there.sum(axis=1)
        if lengths.max() > self._aligner.capacity:
            return SubWords.of([*map(self._aligner.cut, self.versions(kept))], self._aligner.capacity)
        of_word = np.zeros(len(self._ids), np.bool_)
        of_word[self._pair_piece] = True
        ids, attended = (np.broadcast_to(values, there.shape)[there] for values in (self._ids, of_word))
        return SubWords(ids, attended, lengths, {})

    def versions(self, kept: BoolArray) -> Iterator[Encoded]:
        """The same one by one, for what takes more than a window."""
        for row in self._there(kept):
            token = np.cumsum(row) - 1  # a piece's place among those that are there
            pairs = row[self._pair_piece]
            yield Encoded(self._ids[row], token[self._pair_piece][pairs], self._pair_word[pairs], kept.shape[1])

    def _there(self, kept: BoolArray) -> BoolArray:
        """Which pieces each version has: (versions, pieces)."""
        whole = np.logical_and.reduceat(kept, self._group_starts, axis=1)
        alone = kept & ~whole[:, self._group]
        holds = np.concatenate([whole, np.ones((len(kept), 1), np.bool_), ~kept, alone], axis=1)
        there: BoolArray = holds[:, self._condition]
        return there


def _with_space_before(sentence: Sentence, word: int) -> Sentence:
    start, end = sentence.spans[word]
    before = sentence.spans[word - 1][1] if word else 0
    return Sentence(sentence.text[before:end], (sentence.words[word],), ((start - before, end - before),))


def _regrouped(arrays: Iterator[FloatArray], sizes: Iterable[int]) -> Iterator[FloatArray]:
    """The rows of all arrays, so many at a time."""
    rest: list[FloatArray] = []
    for size in sizes:
        while sum(map(len, rest)) < size:
            rest.append(next(arrays))
        joined = np.concatenate(rest)
        yield joined[:size]
        rest = [joined[size:]]
