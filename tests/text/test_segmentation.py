import time
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from zerotag.text.segmentation import split

# Characters between which interesting things happen, beside those that hypothesis thinks of.
_CURIOUS = [
    *"aZßé9٣ \t\n'’-‐.,!_#*",
    "\u00a0",  # no-break space
    "\u2028",
    "\u0301",  # combining acute
    "\u0903",  # a spacing mark
    "\u200b",  # zero-width space
    "\u200c",  # zero-width non-joiner
    "\u200d",  # zero-width joiner
    "\u200f",  # right-to-left mark
    "\u00ad",  # soft hyphen
    "\ufeff",
    "\ufe0f",  # emoji presentation
    "\u20e3",  # keycap
    *"👩👍🏽🇫🇷🏴❤",
    "\U000e0067",  # a tag
    *"אمक한語",
    "\x00",
    "\x1c",
]
texts = st.text() | st.lists(st.sampled_from(_CURIOUS)).map("".join)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("it's state-of-the-art", ["it's", "state-of-the-art"]),
        ("don’t co‐operate", ["don’t", "co‐operate"]),
        ("3.14 or 1,000.5 or ٣,١٤", ["3.14", "or", "1,000.5", "or", "٣,١٤"]),
        ("It may, in 5.", ["It", "may", ",", "in", "5", "."]),
        ("'so' -- a.b 3., x-", ["'", "so", "'", "-", "-", "a", ".", "b", "3", ".", ",", "x", "-"]),
        ("snake_case @me #tag", ["snake", "_", "case", "@", "me", "#", "tag"]),
        ("a\u00a0b\u2028c\u3000d", ["a", "b", "c", "d"]),
        ("cafe\u0301 ≠\u0338!", ["cafe\u0301", "≠\u0338", "!"]),
        ("ok👍🏽👩‍👩‍👧‍👦🇫🇷🇩🇪 🇫", ["ok", "👍🏽", "👩‍👩‍👧‍👦", "🇫🇷", "🇩🇪", "🇫"]),
        ("🏴\U000e0067\U000e0062\U000e007f#\ufe0f\u20e31\ufe0f\u20e3",
         ["🏴\U000e0067\U000e0062\U000e007f", "#\ufe0f\u20e3", "1\ufe0f\u20e3"]),
        ("❤\ufe0f\u200d🔥", ["❤\ufe0f\u200d🔥"]),
        ("\u2067שלום עולם\u2069!", ["שלום", "עולם", "!"]),
        ("می\u200cخواهم क्\u200dष", ["می\u200cخواهم", "क्\u200dष"]),
        ("co\u00adop x\u200by", ["co\u00adop", "x", "y"]),
        ("\u0600١٢٣", ["\u0600١٢٣"]),  # a format character that can be seen
        ("a\x00b\x1fc", ["a", "b", "c"]),
        ("\ufeff \u200b\u200d\x07\u202e\n", []),
        ("", []),
    ],
)  # fmt: skip
def test_words(text: str, words: list[str]) -> None:
    assert list(split(text).words) == words


def test_offsets_point_into_the_original() -> None:
    sentence = split("\t👩‍👧 it’s \u200ffine")
    assert sentence.text == "\t👩‍👧 it’s \u200ffine"
    assert sentence.spans == ((1, 4), (5, 9), (11, 15))


@given(texts)
def test_words_lie_in_the_text_in_order(text: str) -> None:
    sentence = split(text)
    assert sentence.text == text
    assert len(sentence.words) == len(sentence.spans)
    for word, (start, end) in zip(sentence.words, sentence.spans, strict=True):
        assert word
        assert text[start:end] == word
    for (_, end), (start, _) in pairwise(sentence.spans):
        assert end <= start


@given(texts)
def test_only_white_space_and_invisible_characters_are_left_out(text: str) -> None:
    covered = {i for start, end in split(text).spans for i in range(start, end)}
    for i, character in enumerate(text):
        if i in covered:
            assert not character.isspace()
        else:
            assert character.isspace() or regex.fullmatch(r"\p{Cc}|\p{Cf}", character)


@given(texts)
def test_every_word_has_something_to_see(text: str) -> None:
    for word in split(text).words:
        assert regex.search(r"[^\p{Cc}\p{Cf}\s]|\p{GCB=Prepend}", word)


@given(st.text(st.characters(max_codepoint=127)) | st.lists(st.sampled_from("aZ09 \t\n'-.,!_#*\0\x1c")).map("".join))
def test_plain_text_has_the_words_that_it_has_beside_an_accent(text: str) -> None:
    assert split(text).spans == split(f"{text} é").spans[:-1]


@given(st.lists(st.sampled_from(_CURIOUS)).map("".join))
def test_no_grapheme_cluster_is_cut(text: str) -> None:
    # White space and invisible characters with a mark on them are clusters too; that these are cut is meant.
    boundaries = {0, len(text)} | {m.end() for m in regex.finditer(r"[\s\p{Cc}\p{Cf}]|\X", text)}
    for start, end in split(text).spans:
        assert start in boundaries
        assert end in boundaries


@given(st.lists(st.sampled_from(["word", "it's", "3.14", "x-ray", "é", "👍🏽", "!", "("])))
def test_words_apart_are_kept(words: list[str]) -> None:
    assert list(split(" ".join(words)).words) == words


@pytest.mark.parametrize(
    "unit", ["a", "a ", "a-", "1.", "'", "🇫🇷", "👩\u0301", "👩\u200d", "\u0301", "\u00ad", "a\u00ad", "\u200d", "\x00"]
)
def test_a_megabyte_takes_linear_time(unit: str) -> None:
    # Seconds at most, where quadratic time would be minutes; processor time, for other work may go on beside it.
    began = time.process_time()
    split(unit * (1_000_000 // len(unit)))
    assert time.process_time() - began < 20
