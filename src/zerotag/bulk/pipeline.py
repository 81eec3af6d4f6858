"""Reading, scoring and writing at the same time: the network scores a chunk while workers have those before and after.

Chunks come out in the order of the input, and what is in them does not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from typing import NamedTuple

import numpy as np

from zerotag.bulk.chunks import Rejected
from zerotag.bulk.inputs import Unread
from zerotag.bulk.stages import Read, Task, Written
from zerotag.bulk.workers import WorkerPool
from zerotag.inference.predictor import Predictor, RowScores, predict_row
from zerotag.inference.prefetch import prefetched
from zerotag.labeller import Labeller, WordLabeller
from zerotag.parallel.processors import processors
from zerotag.text.alignment import Aligner
from zerotag.text.subwords import SubWords

_IN_FLIGHT = 4  # chunks: one is scored, the others are being read and written


class BeingWritten(NamedTuple):
    """A chunk whose pieces are being written."""

    chunk: Unread
    rejected: list[Rejected]
    writing: list[Future[Written]]


class Finished(NamedTuple):
    """A chunk with all that became of it."""

    chunk: Unread
    rejected: list[Rejected]
    written: list[Written]


class Overlap:
    """Labels with a network of this process and the worker processes beside it."""

    def __init__(self, pool: WorkerPool, predictor: Predictor, aligner: Aligner) -> None:
        self._pool = pool
        self._predictor = predictor
        self._aligner = aligner

    def label(self, chunks: Iterable[Unread], task: Task) -> Generator[Finished]:
        """Each chunk once it is done, in their order."""
        being_read = ((chunk, [self._pool.read(task, piece) for piece in chunk.pieces]) for chunk in chunks)
        with closing(prefetched(lambda read: self._score(task, *read), being_read, _IN_FLIGHT - 1)) as scored:
            for chunk, rejected, writing in scored:
                yield Finished(chunk, rejected, [one.result() for one in writing])

    def _score(self, task: Task, chunk: Unread, reading: Sequence[Future[Read]]) -> BeingWritten:
        pieces = [one.result() for one in reading]
        rejected = [one for piece in pieces for one in piece.rejected]
        pieces = [piece for piece in pieces if len(piece.subwords.lengths)]
        if not pieces:
            return BeingWritten(chunk, rejected, [])
        scores = predict_row(self._predictor, self._aligner, SubWords.joined([piece.subwords for piece in pieces]))
        parts = zip(pieces, _split(scores, pieces), strict=True)
        return BeingWritten(chunk, rejected, [self._pool.write(task, piece.kept, part) for piece, part in parts])


def _split(scores: RowScores, pieces: Sequence[Read]) -> list[RowScores]:
    assert scores.tokens is not None  # nobody labels words with a network that does not score them
    sentences = np.split(scores.sentences, np.cumsum([len(piece.subwords.lengths) for piece in pieces])[:-1])
    tokens = np.split(scores.tokens, np.cumsum([len(piece.subwords.ids) for piece in pieces])[:-1])
    return [*map(RowScores, sentences, tokens)]


@contextmanager
def overlap_for(labeller: Labeller, method: str, workers: int | None = None) -> Iterator[Overlap | None]:
    """The overlap that pays, if any: with a GPU, by default with a worker for each core but one.

    On a processor the network needs all cores itself. Workers know sub-words and word scores alone: plain classifiers
    have no such scores, and a BiLSTM reads more than sub-words.
    """
    config = labeller.manifest.model
    known = method == "native" and config.scores_words and labeller.aligner.reads_sub_words_alone
    if not (known and isinstance(labeller, WordLabeller) and _on_gpu(labeller)):
        yield None
        return
    with WorkerPool(labeller, workers or max(1, processors() - 1)) as pool:
        yield Overlap(pool, labeller.predictor, labeller.aligner)


def _on_gpu(labeller: WordLabeller) -> bool:
    from zerotag.inference.torch_predictor import device_of  # here, as exported models need no torch

    return device_of(labeller.network).type == "cuda"
