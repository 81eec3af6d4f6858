"""Sentences with a word hidden, batches padded to shapes that come again, and values spread over their tokens."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny
from zerotag.research.reference import EndAligner
from zerotag.text.alignment import Aligner, Encoded
from zerotag.text.batches import Batch
from zerotag.types import IntArray

PAD, SEP = 0, 3
WINDOW = 16
FIRST = 100  # numbers below are those of special sub-words


@cache
def aligner(*, attend_to_end: bool = False) -> Aligner:
    kind = EndAligner if attend_to_end else Aligner
    return kind(tiny.tokenizer().backend_tokenizer, window=WINDOW, pad_id=PAD)


@st.composite
def sentences(draw: st.DrawFn) -> Encoded:
    """Sub-words with numbers of their own, in one window or several; words have any number of them, and may share."""
    tokens, words = draw(st.integers(1, 50)), draw(st.integers(1, 8))
    pairs = sorted(draw(st.sets(st.tuples(st.integers(0, tokens - 1), st.integers(0, words - 1)), min_size=1)))
    pair_tokens, pair_words = np.array(pairs).T
    return Encoded(np.arange(FIRST, FIRST + tokens), pair_tokens, pair_words, words)


several = st.lists(sentences(), min_size=1, max_size=4)


def stitched(batch: Batch) -> IntArray:
    """The numbers of the sub-words at each place of the sentences."""
    return batch.input_ids if batch.stitch is None else batch.input_ids.reshape(-1)[batch.stitch]


@given(sentences(), st.integers(0, 7))
def test_a_word_is_hidden_with_all_its_sub_words_unless_nothing_would_be_left(sentence: Encoded, word: int) -> None:
    pairs = list(zip(sentence.pair_tokens.tolist(), sentence.pair_words.tolist(), strict=True))
    its_tokens, of_words = {t for t, w in pairs if w == word}, {t for t, _ in pairs}
    view = sentence.hiding(word)
    if len(its_tokens) == len(sentence):
        assert view is sentence
    else:
        assert set(np.flatnonzero(view.attended).tolist()) == of_words - its_tokens
        assert view.ids is sentence.ids
    assert set(np.flatnonzero(sentence.attended).tolist()) == of_words, "the sentence itself is as it was"


@given(st.lists(st.tuples(sentences(), st.integers(-1, 7)), min_size=1, max_size=4))
def test_no_window_shows_a_hidden_sub_word_and_all_show_everything_else(chosen: list[tuple[Encoded, int]]) -> None:
    views = [sentence if word < 0 else sentence.hiding(word) for sentence, word in chosen]
    batch, hiding = aligner().batch([sentence for sentence, _ in chosen]), aligner().batch(views)
    assert hiding.input_ids.tolist() == batch.input_ids.tolist()
    for s, view in enumerate(views):
        hidden = [] if view.hidden is None else (FIRST + view.hidden).tolist()
        for row in np.flatnonzero(batch.sentence_of_window == s):
            shown = batch.attention_mask[row] * ~np.isin(batch.input_ids[row], hidden)
            assert hiding.attention_mask[row].tolist() == shown.tolist()
        attended = stitched(hiding)[s][hiding.token_mask[s]]
        assert attended.tolist() == (FIRST + np.flatnonzero(view.attended)).tolist()


@given(several, st.integers(1, WINDOW))
def test_batches_are_padded_to_a_multiple_within_the_window(some: list[Encoded], step: int) -> None:
    exact, padded = aligner().batch(some), aligner().batch(some, length_step=step)
    needed, length = exact.input_ids.shape[1], padded.input_ids.shape[1]
    assert needed <= length < needed + step
    assert length % step == 0 or length == WINDOW
    assert padded.input_ids[:, :needed].tolist() == exact.input_ids.tolist()
    assert (padded.input_ids[:, needed:] == PAD).all()
    assert not padded.attention_mask[:, needed:].any()
    assert stitched(padded)[padded.token_mask].tolist() == stitched(exact)[exact.token_mask].tolist()


@pytest.mark.parametrize("attend_to_end", [False, True])
@given(some=several, step=st.integers(1, 9), labels=st.integers(1, 3))
def test_values_are_spread_to_where_tokens_are_read(
    attend_to_end: bool, some: list[Encoded], step: int, labels: int
) -> None:
    its_aligner = aligner(attend_to_end=attend_to_end)
    batch = its_aligner.batch(some, length_step=step)
    values = [np.stack([one.ids + 1000 * k for k in range(labels)], axis=1).astype(np.float32) for one in some]
    spread = its_aligner.spread(batch, values)
    assert spread.shape == (*batch.token_mask.shape, labels)
    back = its_aligner.tokens(batch, spread, some)
    assert [one.tolist() for one in back] == [one.tolist() for one in values]
    numbers = stitched(batch)
    assert (spread[..., 0] == np.where(numbers >= FIRST, numbers, 0)).all(), "special ones and padding have 0"
    assert (batch.token_mask & (numbers == SEP)).any() == attend_to_end
