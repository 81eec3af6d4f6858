"""Words of many texts at once are those of each."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerotag.text.many_texts import words_of
from zerotag.text.segmentation import SEGMENTERS, Segmenter, Text, as_sentence, split, split_at_white_space
from zerotag.text.segmenters import split_standard
from zerotag.types import Sentence

# What lies between words, what joins them, and what only looks as if it did; some of it is no ASCII.
pieces = st.sampled_from(
    [
        *"aB9.,'-–’ \t\n!(_\x00\x7f",
        "é",
        "3.5",
        "o'clock",
        "www.",
        "http://x.org/a",
        "@you",
        "#tag",
        "&amp;",
        "sh*t",
        "://",
        "  ",
    ]
)
plain = st.text(st.characters(codec="ascii"), max_size=12)
strings = st.one_of(st.lists(pieces, max_size=12).map("".join), plain)
texts = st.one_of(strings, st.lists(strings, max_size=4), strings.map(split))
segmenters = st.sampled_from([split, split_standard, split_at_white_space])


@settings(max_examples=300)
@given(st.lists(texts, max_size=6), segmenters)
def test_each_text_has_the_words_that_it_has_alone(some: list[Text], segment: Segmenter) -> None:
    found = words_of(some, segment)
    assert [*found.sentences()] == [as_sentence(text, segment) for text in some]
    assert found.counts.sum() == len(found.spans)


def test_of_every_ascii_character_in_every_place() -> None:
    codes = [chr(code) for code in range(128)]
    some = [f"{before}{one}{after}" for one in codes for before in ("", "a", "1", " ") for after in ("", "b", "2", ".")]
    assert [*words_of(some, split).sentences()] == [split(text) for text in some]


def test_sentences_of_documents_keep_their_place() -> None:
    part = Sentence("it rains", ("it", "rains"), ((0, 2), (3, 8)), 7)
    assert [one.start for one in words_of(["ok", part], split).sentences()] == [None, 7]


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="None is no text"):
        words_of(["ok", None], SEGMENTERS.get("standard"))  # type: ignore[list-item]
