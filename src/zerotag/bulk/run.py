"""Labelling chunk after chunk: read, score, decide, write, and tell how far it is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, BinaryIO

from zerotag.bulk.inputs import Chunk, Inputs, Rejected, Unread
from zerotag.bulk.journal import Unfinished
from zerotag.bulk.stages import Task
from zerotag.bulk.state import State
from zerotag.errors import ZerotagError
from zerotag.explain import Scorer
from zerotag.io.writers.appendable import Encoder, Form
from zerotag.io.writers.style import Style, decided
from zerotag.types import Labelled, Rule, Scored

if TYPE_CHECKING:
    from zerotag.bulk.pipeline import Overlap

COMMIT_SECONDS = 5.0  # work that a kill may cost, beside the chunk at hand
_HOPELESS = 1_000  # records without a single one that could be used


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: the share of the input that was read (None: nobody knows), and what was done since it began."""

    share: float | None
    sentences: int
    rejected: int
    rate: float
    """Sentences per second."""
    seconds_left: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What to label, how, and so many records at a time; `strict` stops at the first that cannot be used.

    A part of some inputs `may_be_empty`; else a run stops that finds no record that can be used.
    With `overlap` other processes read and write, as far as the form of the output allows it.
    """

    inputs: Inputs
    scorer: Scorer
    label_names: Sequence[str]
    rules: Sequence[Rule]
    at_once: int
    strict: bool = False
    may_be_empty: bool = False
    show: Callable[[Progress], None] = lambda _: None
    overlap: Overlap | None = None

    def check(self, state: State) -> None:
        """Refuse to go on from a state that a strict run does not get into, or with files that have changed since."""
        if self.strict and state.rejected:
            raise ZerotagError(
                f"--strict allows no rejected records, and {state.rejected:,} are rejected already: "
                "--resume goes on without --strict, --overwrite starts anew"
            )
        changed = self.inputs.first_changed(state.read)
        if changed is not None:
            raise ZerotagError(f"{changed} has changed since it was read: --overwrite starts anew")

    def chunks(self, state: State) -> Iterator[tuple[Chunk, list[Scored]]]:
        """Label from where the state is, which moves on with every chunk."""
        account = _Account(self, state)
        for chunk in self.inputs.chunks(state.cursor, self.at_once):
            account.check(chunk.rejected)
            scored = list(self.scorer.score(chunk.sentences))
            state.count(scored, self.label_names, self.rules)
            account.add(chunk, chunk.rejected)
            yield chunk, scored
            account.show(chunk.share)
        account.close()

    def outputs(self, state: State, encoder: Encoder) -> Generator[tuple[Sequence[bytes | memoryview], list[Rejected]]]:
        """Label from where the state is: the bytes of every chunk in parts, and the records it cannot have."""
        if self.overlap is None:
            for chunk, scored in self.chunks(state):
                yield [*_encoded(chunk, scored, encoder)], chunk.rejected
            return
        account = _Account(self, state)
        unread = self.inputs.unread(state.cursor, self.at_once)
        with closing(self.overlap.label(unread, Task(self.inputs.reader, encoder))) as finished:
            for unread_chunk, rejected, written in finished:
                account.check(rejected)
                for piece in written:
                    state.add(piece.found)
                account.add(unread_chunk, rejected)
                yield [piece.output for piece in written], rejected
                account.show(unread_chunk.share)
        account.close()


class _Account:
    """Keeps the state of a run, tells how far it is, and stops it where that is of no use."""

    def __init__(self, run: Run, state: State) -> None:
        self._run = run
        self._state = state
        self._begun = monotonic()
        self._sentences_before = state.sentences
        self._seconds_before = state.seconds
        self._first_reject = ""

    def check(self, rejected: Sequence[Rejected]) -> None:
        """Look at the records that cannot be used before anything else is done with a chunk."""
        if rejected:
            self._first_reject = self._first_reject or rejected[0].reason
            if self._run.strict:
                raise StrictError(self._first_reject)

    def add(self, chunk: Chunk | Unread, rejected: Sequence[Rejected]) -> None:
        """Move on to the end of a chunk whose results have been counted."""
        self._state.cursor, self._state.read = chunk.end, chunk.read
        self._state.rejected += len(rejected)
        self._state.seconds = self._seconds_before + monotonic() - self._begun
        if self._state.rejected >= _HOPELESS:
            self.close()

    def show(self, share: float | None) -> None:
        """Tell how far it is, with so much of the input done."""
        state = self._state
        rate = (state.sentences - self._sentences_before) / max(state.seconds - self._seconds_before, 1e-9)
        left = state.sentences * (1 / share - 1) / rate if share and rate else None
        self._run.show(Progress(share, state.sentences, state.rejected, rate, left))

    def close(self) -> None:
        """Stop if nothing could be used: a wrong format or column, of which a list of rejects would say no more."""
        if self._state.rejected and not self._state.sentences and not self._run.may_be_empty:
            raise RecordError(f"{self._first_reject} (and not one of {self._state.rejected:,} records could be used)")


def _encoded(chunk: Chunk, scored: Sequence[Scored], encoder: Encoder) -> Iterator[bytes]:
    """Piece by piece, as the bytes shall not depend on who made them."""
    remaining = iter(scored)
    for piece in chunk.pieces:
        yield encoder.encode(list(islice(remaining, len(piece.sentences))), piece.origins)


class RecordError(ZerotagError):
    """Records that cannot be used ended the run."""


class StrictError(RecordError):
    """One was enough."""


def label_to_file(run: Run, output: Unfinished, encoder: Encoder) -> None:
    """Append every chunk to the output, let it count every few seconds, and move the whole to its place."""
    if not output.finished:
        try:
            _append_all(run, output, encoder)
        except KeyboardInterrupt:
            output.commit()
            raise
        except StrictError as error:
            output.commit()
            hint = f"; without --strict, --resume goes on from {output.folder}" if output.can_go_on else ""
            raise StrictError(f"{error}{hint}") from None
        except RecordError:
            output.remove()  # there is nothing in it
            raise
        output.state.read = run.inputs.read_to_the_end()
        output.append((), ())
    output.finish(encoder.assemble)


def _append_all(run: Run, output: Unfinished, encoder: Encoder) -> None:
    committed = monotonic()
    with closing(run.outputs(output.state, encoder)) as outputs:
        for written, rejected in outputs:
            output.append(written, rejected)
            if monotonic() - committed >= COMMIT_SECONDS:
                output.commit()
                committed = monotonic()


def label_to_page(run: Run, output: Unfinished, form: Form, style: Style) -> None:
    """Write a form whose parts depend on one another; nobody can go on with half of it."""

    def results() -> Iterator[Labelled]:
        for chunk, scored in run.chunks(output.state):
            output.append((), chunk.rejected)
            yield from decided(scored, style)

    pieces = form.render(results(), style)
    while some := "".join(islice(pieces, run.at_once)):
        output.append([form.pack(some.encode())], ())
    output.finish()


def label_to_stream(run: Run, stream: BinaryIO, form: Form, style: Style, warn: Callable[[Rejected], None]) -> State:
    """Write to a stream as results come; whoever is warned of rejected records decides what becomes of them."""
    state = State()
    if form.is_appendable:
        with closing(run.outputs(state, Encoder(form, style))) as outputs:
            for written, rejected in outputs:
                for one in rejected:
                    warn(one)
                stream.writelines(written)
                stream.flush()
        return state

    def flushed() -> Iterator[Labelled]:
        for chunk, scored in run.chunks(state):
            for one in chunk.rejected:
                warn(one)
            yield from decided(scored, style)
            stream.flush()

    stream.writelines(piece.encode() for piece in form.render(flushed(), style))
    return state
