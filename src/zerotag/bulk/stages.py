"""What becomes of a piece in worker processes: lines become sub-words, and scores become bytes of output.

In between the network, which another process has, needs nothing but the sub-words; the rest of what was read goes there
and back as it is. There is no torch here: workers start in a moment.
"""

from __future__ import annotations

import pickle
from itertools import islice
from typing import NamedTuple

import numpy as np

from zerotag.bulk.chunks import Piece, Reader, Rejected
from zerotag.bulk.state import State
from zerotag.inference.predictor import RowScores
from zerotag.io.writers import Origin
from zerotag.io.writers.appendable import Encoder
from zerotag.text.alignment import Aligner, Encoded, flat, word_scores
from zerotag.text.subwords import SubWords
from zerotag.types import IntArray, Scored, Sentence


class Task(NamedTuple):
    """How pieces are read, and how they are written."""

    reader: Reader
    encoder: Encoder


class Read(NamedTuple):
    """A piece as the network needs it, the records it cannot have, and what only the last stage needs."""

    subwords: SubWords
    rejected: list[Rejected]
    kept: bytes | memoryview


class Written(NamedTuple):
    """The bytes of a piece, and what was found in it."""

    output: bytes | memoryview
    found: State


class Kept(NamedTuple):
    """The sentences of a piece, in few objects, as these go through two pipes."""

    texts: list[str]
    origins: list[Origin]
    spans: IntArray  # (words, 2)
    words: list[int]  # of each sentence
    row: Encoded
    """All sentences as one."""

    def sentences(self) -> list[Sentence]:
        """The sentences as they were."""
        spans = zip(*self.spans.T.tolist(), strict=True)
        by_sentence = [tuple(islice(spans, count)) for count in self.words]
        return [
            Sentence(text, tuple([text[start:end] for start, end in its_spans]), its_spans)
            for text, its_spans in zip(self.texts, by_sentence, strict=True)
        ]


class Stages:
    """The stages for one model."""

    def __init__(self, aligner: Aligner) -> None:
        self._aligner = aligner

    def read(self, task: Task, piece: Piece) -> Read:
        """The first stage."""
        records = task.reader.read(piece)
        encoded = self._aligner.encode(records.sentences)
        subwords = SubWords.of(encoded, self._aligner.capacity)
        kept = Kept(
            [sentence.text for sentence in records.sentences],
            records.origins if task.encoder.form.origins else [],
            flat(sentence.spans for sentence in records.sentences),
            [len(sentence.words) for sentence in records.sentences],
            _as_one(encoded, subwords.starts),
        )
        return Read(subwords, records.rejected, pickle.dumps(kept, protocol=pickle.HIGHEST_PROTOCOL))

    def write(self, task: Task, kept: bytes | memoryview, scores: RowScores) -> Written:
        """The last stage."""
        piece: Kept = pickle.loads(kept)
        assert scores.tokens is not None
        by_word = np.split(word_scores(piece.row, scores.tokens), np.cumsum(piece.words)[:-1])
        scored = [
            Scored(sentence, tuple(sentence_scores), its_words)
            for sentence, sentence_scores, its_words in zip(
                piece.sentences(), scores.sentences.tolist(), by_word, strict=True
            )
        ]
        found = State()
        found.count(scored, task.encoder.style.label_names, task.encoder.style.rules)
        return Written(task.encoder.encode(scored, piece.origins), found)


def _as_one(encoded: list[Encoded], starts: IntArray) -> Encoded:
    """Which tokens of a row belong to which of its words."""
    words = np.array([one.words for one in encoded], np.int64)
    pairs = [len(one.pair_tokens) for one in encoded]
    nothing = np.zeros(0, np.int64)
    return Encoded(
        nothing,
        np.concatenate([nothing, *(one.pair_tokens for one in encoded)]) + np.repeat(starts, pairs),
        np.concatenate([nothing, *(one.pair_words for one in encoded)]) + np.repeat(np.cumsum(words) - words, pairs),
        int(words.sum()),
    )
