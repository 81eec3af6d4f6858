"""JSON lines made directly of scores say the same, byte for byte, as those made of decided sentences."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zerotag.decisions import decide
from zerotag.io.writers import Origin, jsonl
from zerotag.io.writers.style import Style
from zerotag.types import Rule, Scored, Sentence

SCORES = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1e-7, 0.1234565, -2.5, 31.25]) | st.floats(0, 1, width=32)
RULES = st.builds(Rule, SCORES, SCORES)
WORDS = st.lists(st.text(st.characters(exclude_characters=" "), min_size=1, max_size=4), max_size=6)
NAMES = ("hedge", 'a "b"\n', "ñ\u2028")


@given(
    data=st.data(), count=st.integers(1, 3), origin=st.none() | st.builds(Origin, st.text(max_size=5), st.integers(1))
)
def test_the_same_lines(data: st.DataObject, count: int, origin: Origin | None) -> None:
    names, rules = NAMES[:count], tuple(data.draw(RULES) for _ in range(count))
    style = Style(label_names=names, rules=rules, title="")
    sentence = Sentence.from_words(data.draw(WORDS))
    of_label = st.lists(SCORES, min_size=count, max_size=count)
    word_scores = [data.draw(of_label) for _ in sentence.words]
    scored = Scored(
        sentence, tuple(data.draw(of_label)), np.array(word_scores, np.float32).reshape(len(sentence.words), count)
    )
    expected = jsonl.encode(jsonl.record(decide(scored, names, rules), names, origin)) + "\n"
    assert list(jsonl.render_scored([scored], style, None if origin is None else [origin])) == [expected]
