import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerotag.decisions import decide
from zerotag.types import Labelled, Rule, Scored, Sentence, Span


def _scored(words: list[str], word_scores: list[list[float]], sentence_scores: tuple[float, ...]) -> Scored:
    scores = np.array(word_scores, np.float32).reshape(len(words), len(sentence_scores))
    return Scored(Sentence.from_words(words), sentence_scores, scores)


def _decide_one(scores: list[float], threshold: float = 0.5) -> Labelled:
    words = ["one", "two", "three", "four", "five"][: len(scores)]
    return decide(_scored(words, [[s] for s in scores], (0.5,)), ["x"], [Rule(word_threshold=threshold)])


def test_neighbouring_words_make_one_span() -> None:
    labelled = _decide_one([0.75, 0.5, 0.25, 0.625])
    assert labelled.spans == (Span("one two", 0, 7, "x", 0.75), Span("four", 14, 18, "x", 0.625))
    assert [word.labels for word in labelled.words] == [("x",), ("x",), (), ("x",)]
    assert [word.label for word in labelled.words] == ["x", "x", None, "x"]


@given(st.lists(st.floats(0, 1, width=32), max_size=5))
def test_spans_hold_the_positive_words_and_no_others(scores: list[float]) -> None:
    labelled = _decide_one(scores)
    inside = [
        any(span.start <= word.start and word.end <= span.end for span in labelled.spans) for word in labelled.words
    ]
    assert inside == [score >= 0.5 for score in scores]
    for earlier, later in zip(labelled.spans, labelled.spans[1:], strict=False):
        assert labelled.text[earlier.end : later.start].strip(), "there is a word between two spans"


def test_each_label_has_its_own_rule_words_and_spans() -> None:
    scored = _scored(["may", "leak", "now"], [[0.9, 0.2], [0.6, 0.3], [0.1, 0.8]], (0.7, 0.4))
    rules = [Rule(word_threshold=0.6, sentence_threshold=0.8), Rule(word_threshold=0.3, sentence_threshold=0.4)]
    labelled = decide(scored, ["hedge", "time"], rules)
    assert labelled.labels == ("time",)
    assert labelled.scores == {"hedge": 0.7, "time": 0.4}
    assert (labelled.score, labelled.label) == (0.7, "time")
    assert [word.labels for word in labelled.words] == [("hedge",), ("hedge", "time"), ("time",)]
    assert [word.label for word in labelled.words] == ["hedge", "hedge", "time"]
    assert labelled.words[1].scores == {"hedge": pytest.approx(0.6), "time": pytest.approx(0.3)}
    assert [(span.text, span.label) for span in labelled.spans] == [("may leak", "hedge"), ("leak now", "time")]


def test_words_are_positive_whatever_their_sentence_is() -> None:
    labelled = decide(_scored(["may", "leak"], [[0.9], [0.1]], (0.39,)), ["x"], [Rule(sentence_threshold=0.4)])
    assert labelled.labels == ()
    assert [word.labels for word in labelled.words] == [("x",), ()]


def test_a_span_shows_the_text_between_its_words_as_it_is() -> None:
    text = "it  might\u00a0well be"
    spans = ((0, 2), (4, 9), (10, 14), (15, 17))
    sentence = Sentence(text, tuple(text[a:b] for a, b in spans), spans)
    scores = np.array([[0.1], [0.9], [0.7], [0.2]], np.float32)
    (span,) = decide(Scored(sentence, (0.9,), scores), ["x"], [Rule()]).spans
    assert (span.text, span.start, span.end) == ("might\u00a0well", 4, 14)


def test_a_sentence_without_words() -> None:
    labelled = decide(_scored([], [], (0.9,)), ["x"], [Rule()])
    assert (labelled.labels, labelled.words, labelled.spans) == ((), (), ())
