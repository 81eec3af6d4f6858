"""Rows of sub-words make the same batches, and the same scores, as sentences one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiny
from zerotag.config import ModelConfig
from zerotag.inference.predictor import predict, predict_row
from zerotag.text.aligners import aligner_for
from zerotag.text.alignment import Aligner, Encoded
from zerotag.text.batches import Batch
from zerotag.text.subwords import SubWords
from zerotag.types import FloatArray, Sentence

WORDS = sorted({word for words, _ in tiny.sentences(60) for word in words})
sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(Sentence.from_words), min_size=1, max_size=8)


CONFIG = ModelConfig(encoder="tiny", window=32)


def _aligner(family: str = "bert", config: ModelConfig = CONFIG) -> Aligner:
    tokenizer = tiny.tokenizer(family)
    return aligner_for(config, tokenizer.backend_tokenizer, pad_id=tokenizer.pad_token_id)


ALIGNERS = {
    "bert": _aligner(),
    "roberta": _aligner("roberta"),
    "deberta-v2": _aligner("deberta-v2"),
    "reference": _aligner(config=replace(CONFIG, tokenization="reference")),
}


@pytest.mark.parametrize("name", ALIGNERS)
@settings(max_examples=40)
@given(made=sentences, draw=st.randoms())
def test_rows_are_padded_between_what_stands_around_them(name: str, made: list[Sentence], draw: object) -> None:
    aligner = ALIGNERS[name]
    encoded = aligner.encode(made)
    members = [*range(len(encoded))]
    draw.shuffle(members)  # type: ignore[attr-defined]
    members = members[: 1 + len(members) // 2]
    chosen = [encoded[i] for i in members]
    made_by_hand = [cells_of(aligner, one) for one in chosen]
    longest = max(map(len, made_by_hand))
    padding = (aligner.frame.padding, 0, False)
    expected = [[*row, *[padding] * (longest - len(row))] for row in made_by_hand]
    for found in (
        SubWords.of(encoded, aligner.capacity).batch(aligner.frame, np.array(members)),
        aligner.batch(chosen),
    ):
        for field, cells in zip((found.input_ids, found.attention_mask, found.token_mask), zip3(expected), strict=True):
            assert field.tolist() == cells
        assert found.sentence_of_window.tolist() == [*range(len(chosen))]
        assert found.stitch is None


def cells_of(aligner: Aligner, one: Encoded) -> list[tuple[int, int, bool]]:
    """A row of a batch before it is padded: sub-words, whether others see them, whether they are of words."""
    prefix, suffix, _, attends_to_suffix = aligner.frame
    return [
        *((number, 1, False) for number in prefix.tolist()),
        *((number, 1, place in one.pair_tokens) for place, number in enumerate(one.ids.tolist())),
        *((number, 1, attends_to_suffix) for number in suffix.tolist()),
    ]


def zip3(rows: list[list[tuple[int, int, bool]]]) -> list[list[list[int]]]:
    return [[[cell[part] for cell in row] for row in rows] for part in range(3)]


def test_what_is_not_simply_padded() -> None:
    aligner = ALIGNERS["bert"]
    long, short, seen = aligner.encode([Sentence.from_words(["pump"] * n) for n in (40, 3, 3)])
    row = SubWords.of([short, long, seen.hiding(1), short], aligner.capacity)
    assert row.others.keys() == {1, 2}
    joined = SubWords.joined([SubWords.of([short], 30), row, SubWords.of([], 30), SubWords.of([long], 30)])
    assert joined.others.keys() == {2, 3, 5}
    assert joined.lengths.tolist() == [3, 3, 40, 3, 3, 40]
    assert len(joined.ids) == len(joined.attended) == 92


class Echo:
    """A predictor that says which sub-word it sees where, so that nothing can be mixed up."""

    token_budget = 60

    def probabilities(self, batch: Batch) -> tuple[FloatArray, FloatArray | None]:
        ids = batch.input_ids if batch.stitch is None else batch.input_ids.ravel()[batch.stitch]
        tokens = np.where(batch.token_mask, ids, 0).astype(np.float32)
        return tokens.sum(axis=1, keepdims=True), np.stack([ids.astype(np.float32), tokens], axis=2)


@given(lengths=st.lists(st.integers(0, 70), min_size=1, max_size=12))
@settings(max_examples=30)
def test_every_score_belongs_to_its_token(lengths: list[int]) -> None:
    aligner = ALIGNERS["bert"]
    words = [word for _ in range(20) for word in WORDS]
    encoded = aligner.encode([Sentence.from_words(words[i : i + n]) for i, n in enumerate(lengths)])
    for one, prediction in zip(encoded, predict(Echo(), aligner, encoded), strict=True):
        assert prediction.token_scores is not None
        assert prediction.token_scores[:, 0].tolist() == one.ids.tolist()
        assert prediction.sentence_scores.tolist() == [float(one.ids[np.unique(one.pair_tokens)].sum())]


def test_a_row_without_sentences() -> None:
    scores = predict_row(Echo(), ALIGNERS["bert"], SubWords.of([], 30))
    assert len(scores.sentences) == 0
    assert scores.tokens is None
