"""Labelling chunk after chunk: read, score, decide, write, and tell how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import BinaryIO

from zerotag.bulk.encoders import Encoder, Form, decided, encoder
from zerotag.bulk.inputs import Chunk, Inputs, Rejected
from zerotag.bulk.state import State
from zerotag.bulk.unfinished import Unfinished
from zerotag.errors import ZerotagError
from zerotag.render import FORMATS, Style
from zerotag.scorers import Scorer
from zerotag.types import Labelled, Rule, Scored

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
    """What to label, how, and so many records at a time; `strict` stops at the first that cannot be used."""

    inputs: Inputs
    scorer: Scorer
    label_names: Sequence[str]
    rules: Sequence[Rule]
    at_once: int
    strict: bool = False
    show: Callable[[Progress], None] = lambda _: None

    def chunks(self, state: State) -> Iterator[tuple[Chunk, list[Scored]]]:
        """Label from where the state is, which moves on with every chunk."""
        begun, sentences_before, seconds_before = monotonic(), state.sentences, state.seconds
        first_reject = ""
        for chunk in self.inputs.chunks(state.cursor, self.at_once):
            if chunk.rejected:
                first_reject = first_reject or chunk.rejected[0].reason
                if self.strict:
                    raise RecordError(first_reject)
            scored = list(self.scorer.score(chunk.sentences))
            state.cursor = chunk.end
            state.rejected += len(chunk.rejected)
            state.count(scored, self.label_names, self.rules)
            elapsed = monotonic() - begun
            state.seconds = seconds_before + elapsed
            if state.rejected >= _HOPELESS:
                _check_use(state, first_reject)
            yield chunk, scored
            self.show(self._progress(state, (state.sentences - sentences_before) / max(elapsed, 1e-9)))
        _check_use(state, first_reject)

    def _progress(self, state: State, rate: float) -> Progress:
        share = self.inputs.share_read
        left = state.sentences * (1 / share - 1) / rate if share and rate else None
        return Progress(share, state.sentences, state.rejected, rate, left)


class RecordError(ZerotagError):
    """A record that cannot be used ended the run."""


def _check_use(state: State, first_reject: str) -> None:
    """Stop if nothing could be used: a wrong format or column, of which a list of rejects would say no more."""
    if state.rejected and not state.sentences:
        raise RecordError(f"{first_reject} (and not one of {state.rejected:,} records could be used)")


def label_to_file(run: Run, output: Unfinished, its_encoder: Encoder) -> None:
    """Append every chunk to the output, let it count every few seconds, and move the whole to its place."""
    committed = monotonic()
    if not output.finished:
        try:
            for chunk, scored in run.chunks(output.state):
                output.append(its_encoder.encode(scored, chunk.origins), chunk.rejected)
                if monotonic() - committed >= COMMIT_SECONDS:
                    output.commit()
                    committed = monotonic()
        except RecordError:
            output.remove()  # whoever mends the record has another input, with which nobody can go on
            raise
    output.finish(its_encoder.assemble)


def label_to_page(run: Run, output: Unfinished, form: Form, style: Style) -> None:
    """Write a form whose parts depend on one another; nobody can go on with half of it."""

    def results() -> Iterator[Labelled]:
        for chunk, scored in run.chunks(output.state):
            output.append(b"", chunk.rejected)
            yield from decided(scored, style)

    pieces = FORMATS[form.format](results(), style)
    while some := "".join(islice(pieces, run.at_once)):
        output.append(form.pack(some.encode()), ())
    output.finish()


def label_to_stream(run: Run, stream: BinaryIO, form: Form, style: Style, warn: Callable[[Rejected], None]) -> State:
    """Write to a stream as results come; whoever is warned of rejected records decides what becomes of them."""
    state = State()

    def flushed() -> Iterator[tuple[Chunk, list[Scored]]]:
        for chunk, scored in run.chunks(state):
            for rejected in chunk.rejected:
                warn(rejected)
            yield chunk, scored
            stream.flush()

    if form.is_appendable:
        encode = encoder(form, style).encode
        stream.writelines(encode(scored, chunk.origins) for chunk, scored in flushed())
    else:
        results = (labelled for _, scored in flushed() for labelled in decided(scored, style))
        stream.writelines(piece.encode() for piece in FORMATS[form.format](results, style))
    return state
