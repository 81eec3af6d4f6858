from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer

import tiny
from zerotag.modeling.encoders import packaged_folder
from zerotag.text import tokenization as tokenizing
from zerotag.text.alignment import well_formed
from zerotag.text.tokenization import BetweenSpaces, Tokens, WholeTexts, parts_at_spaces, tokenize_with


def packaged() -> Tokenizer:
    """That of the packaged encoder, as aligners use it: no text can smuggle in a special token."""
    tokenizer = Tokenizer.from_file(f"{packaged_folder()}/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


PACKAGED = packaged()
REMEMBERING = BetweenSpaces(PACKAGED)  # one for all tests: what it remembers must never matter

# Spaces of several kinds and lengths, accents that may cling to them, what looks like special tokens, other scripts.
awkward = st.sampled_from(
    [
        " ",
        "  ",
        "\t",
        "\u00a0",
        "\u3000",
        "\u200b",
        "\u0301",
        "\u00b4",
        "[SEP]",
        " [MASK] ",
        "<mask>",
        "##ing",
        "can't",
        "中文",
        "é",
        "\ufeff",
        "\n",
    ]
)
texts = st.lists(st.one_of(awkward, st.text(max_size=6)), max_size=12).map("".join).map(well_formed)


def same(one: Tokens, other: Tokens) -> None:
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@given(st.lists(texts, min_size=1, max_size=5))
def test_what_stands_between_spaces_can_be_tokenized_by_itself(some: list[str]) -> None:
    same(REMEMBERING(some), WholeTexts(PACKAGED)(some))


def test_places_count_one_more_character_for_each_text() -> None:
    for tokenize in (WholeTexts(PACKAGED), BetweenSpaces(PACKAGED)):
        found = tokenize(["no  way", "", "pumps!"])
        # "no" 0-2, "way" 4-7; the empty text takes place 8; "pumps!" begins at 9: "pumps" 9-14, "!" 14-15.
        assert found.starts.tolist() == [0, 4, 9, 14]
        assert found.ends.tolist() == [2, 7, 14, 15]
        assert found.counts.tolist() == [2, 0, 2]
        assert [PACKAGED.id_to_token(number) for number in found.ids.tolist()] == ["no", "way", "pumps", "!"]


def test_of_nothing_there_is_nothing() -> None:
    for tokenize in (WholeTexts(PACKAGED), BetweenSpaces(PACKAGED)):
        assert [part.tolist() for part in tokenize([])] == [[], [], [], []]


class Recording:
    """A tokenizer that keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_batch(self, pieces: list[str], **settings: Any) -> Any:
        self.asked += pieces
        return PACKAGED.encode_batch(pieces, **settings)


def test_it_forgets_before_it_knows_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks again for what was met long ago, and for what is too long to be remembered at all."""
    monkeypatch.setattr(tokenizing, "REMEMBERED", 10)
    recording = Recording()
    tokenize = BetweenSpaces(cast(Tokenizer, recording))
    tokenize([" ".join(map(str, range(100)))])  # more at once than may be remembered
    for number in range(50):
        some = [f"the pump {number} stops", "x" * 100]
        same(tokenize(some), WholeTexts(PACKAGED)(some))
    times = Counter(recording.asked)
    assert times["x" * 100] == 50
    assert times["7"] == 2
    # Of three words of each text, and a number that is met no more, at most ten are known.
    assert 50 / 10 <= times["pump"] <= 50 / (10 - 3)


def test_threads_may_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizing, "REMEMBERED", 50)
    tokenize = BetweenSpaces(PACKAGED)
    some = [[f"word{a} and{b} more{a + b}" for a in range(10)] for b in range(40)]
    with ThreadPoolExecutor(8) as threads:
        for found, one in zip(threads.map(tokenize, some), some, strict=True):
            same(found, WholeTexts(PACKAGED)(one))


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_only_tokenizers_that_part_at_spaces_are_taken_apart(family: str) -> None:
    backend = tiny.labeller(family).tokenizer.backend_tokenizer
    assert isinstance(tokenize_with(backend), WholeTexts)  # a special token with the space before it would be found
    backend.encode_special_tokens = True
    by_word = family in ("bert", "distilbert", "mpnet", "electra")
    assert isinstance(tokenize_with(backend), BetweenSpaces if by_word else WholeTexts)
    some = ["the pump may stop", "it may  well", " at night "]
    same(tokenize_with(backend)(some), WholeTexts(backend)(some))


def test_an_added_token_may_reach_over_a_space() -> None:
    tokenizer = packaged()
    assert parts_at_spaces(tokenizer)
    tokenizer.add_tokens([AddedToken("as if", normalized=False)])
    assert not parts_at_spaces(tokenizer)
