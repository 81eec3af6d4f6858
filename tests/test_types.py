from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerotag.types import Example, Rule, Sentence


@given(st.lists(st.text(), max_size=8))
def test_words_are_found_at_their_offsets(words: list[str]) -> None:
    sentence = Sentence.from_words(words)
    assert [sentence.text[start:end] for start, end in sentence.spans] == words
    assert sentence.text == " ".join(words)


def test_an_example_has_no_place_for_word_labels() -> None:
    assert [field.name for field in fields(Example)] == ["sentence", "labels"]
    example = Example(Sentence.from_words(["a"]), (True,))
    with pytest.raises((AttributeError, FrozenInstanceError, TypeError)):
        example.word_labels = ((True,),)  # type: ignore[attr-defined]


def test_thresholds_belong_to_the_positive_side() -> None:
    rule = Rule(word_threshold=0.25, sentence_threshold=0.75)
    below = np.nextafter(np.float32(0.25), np.float32(0))
    assert rule.words(np.array([0.25, below], np.float32)).tolist() == [True, False]
    assert rule.sentence(0.75)
    assert not rule.sentence(np.nextafter(0.75, 0))


def test_thresholds_may_be_below_zero() -> None:
    scores = np.array([-0.3, -0.1], np.float32)  # as LIME's weights may be
    assert Rule(word_threshold=-0.2).words(scores).tolist() == [False, True]
