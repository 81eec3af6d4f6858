"""Documents are cut into sentences where the page cuts them, and every word knows its place."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerotag.text.segmentation import SEGMENTERS, split_at_white_space
from zerotag.text.segmenters import split_standard
from zerotag.text.sentences import ABBREVIATIONS, split_sentences
from zerotag.types import Sentence

# What the segmenter of Chromium finds, joined over abbreviations as the page does it.
DOCUMENTS = {
    'It rains. It may snow! Or "not?" he said.': ["It rains.", "It may snow!", 'Or "not?"', "he said."],
    "Dr. Smith, e.g. Mr. X, paid 3.5 dollars (etc.) to J. Doe.": [
        "Dr. Smith, e.g. Mr. X, paid 3.5 dollars (etc.) to J. Doe."
    ],
    "今天下雨。明天呢？也许！好": ["今天下雨。", "明天呢？", "也许！", "好"],
    'Das kostet ca. 5 Euro, z. B. Montag. "Ja." (Nein.) Gut': [
        "Das kostet ca. 5 Euro, z. B. Montag.",
        '"Ja."',
        "(Nein.)",
        "Gut",
    ],
    "¿Qué? ¡No! Sí.": ["¿Qué?", "¡No!", "Sí."],
    "So... what? No... Well… Then.": ["So... what?", "No...", "Well… Then."],
    "a.b. c": ["a.b. c"],
    "I count 1. 2. 3. Go!?!! Yes": ["I count 1.", "2.", "3.", "Go!?!!", "Yes"],
    "हाँ। नहीं॥ ठीक": ["हाँ।", "नहीं॥", "ठीक"],
    "a title\nIt goes on\r\n\r\n over lines. ": ["a title", "It goes on", "over lines."],
    "...": ["..."],
    " \n ": [],
    "": [],
}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_sentences_of_a_document(document: str) -> None:
    assert [sentence.text for sentence in split_sentences(split_standard(document))] == DOCUMENTS[document]


@given(st.text(alphabet='aA1 .?!")\n。हe\u0301\u200b@', max_size=40), st.sampled_from(["standard", "whitespace"]))
def test_no_word_is_lost_or_cut_and_each_keeps_its_place(document: str, segmenter: str) -> None:
    whole = SEGMENTERS.get(segmenter)(document)
    words: list[str] = []
    places: list[tuple[int, int]] = []
    for sentence in split_sentences(whole):
        assert sentence.start is not None
        assert document[sentence.start :].startswith(sentence.text)
        assert sentence == Sentence(sentence.text, sentence.words, sentence.spans, sentence.start)
        assert all(sentence.text[slice(*span)] == w for w, span in zip(sentence.words, sentence.spans, strict=True))
        words += sentence.words
        places += [(sentence.start + start, sentence.start + end) for start, end in sentence.spans]
    assert tuple(words) == whole.words
    assert tuple(places) == whole.spans


def test_words_stay_whole() -> None:
    address = "See http://a.org/?q=What!Now or go."
    assert [one.text for one in split_sentences(split_standard(address))] == [address]
    assert len([*split_sentences(split_at_white_space("One.两。Two three"))]) == 1


def test_the_page_has_the_same_abbreviations() -> None:
    page = files("zerotag").joinpath("serve/page/texts.js").read_text(encoding="utf-8")
    assert rf"/(?:^|[\s(])(?:{ABBREVIATIONS})\.\s*$/u" in page


def test_long_rows_of_full_stops_take_no_longer_than_texts() -> None:
    for row in ("A. ", ". ", ".)", ". (", "1.1", "…"):  # quadratic time would be minutes
        assert [*split_sentences(split_standard(row * 20_000))]
