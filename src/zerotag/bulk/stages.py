"""What becomes of a piece in worker processes: lines become sub-words, and scores become bytes of output.

In between the network, which another process has, needs nothing but the sub-words; the rest of what was read goes there
and back as it is. There is no torch here: workers start in a moment.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import NamedTuple

from zerotag.bulk.chunks import Piece, Reader, Rejected
from zerotag.bulk.state import State
from zerotag.columns import ScoredColumns, SentenceColumns
from zerotag.inference.predictor import RowScores
from zerotag.io.writers import Origin
from zerotag.io.writers.appendable import Encoder
from zerotag.text.alignment import Aligner, Encoded, word_scores
from zerotag.text.subwords import SubWords, encode_row


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

    sentences: SentenceColumns
    origins: list[Origin]
    row: Encoded
    """All sentences as one."""


class Stages:
    """The stages for one model."""

    def __init__(self, aligner: Aligner) -> None:
        self._aligner = aligner

    def read(self, task: Task, piece: Piece) -> Read:
        """The first stage."""
        records = task.reader.read(piece)
        sentences = SentenceColumns.of(records.sentences)
        subwords, row = encode_row(self._aligner, sentences)
        row = replace(row, ids=row.ids[:0])  # which only the network needs
        kept = Kept(sentences, records.origins if task.encoder.form.origins else [], row)
        return Read(subwords, records.rejected, pickle.dumps(kept, protocol=pickle.HIGHEST_PROTOCOL))

    def write(self, task: Task, kept: bytes | memoryview, scores: RowScores) -> Written:
        """The last stage."""
        piece: Kept = pickle.loads(kept)
        assert scores.tokens is not None
        columns = ScoredColumns(piece.sentences, scores.sentences, word_scores(piece.row, scores.tokens))
        scored = [*columns.scored(piece.sentences.sentences())]
        found = State()
        found.count(scored, task.encoder.style.label_names, task.encoder.style.rules)
        return Written(task.encoder.encode(scored, piece.origins), found)
