"""The words that carry a label over a corpus, counted by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zerotag.decisions import decide
from zerotag.evaluation.lexicon import EXAMPLES, THRESHOLDS, LabelledCorpus, labelled_corpus
from zerotag.types import Labelled, Rule, Scored, Sentence

RULES = (Rule(word_threshold=0.5, sentence_threshold=0.5), Rule(word_threshold=0.25, sentence_threshold=0.9))
NAMES = ("a", "b")


def result(text: str, *scores: tuple[float, float], verdict: tuple[float, float] = (1.0, 0.0)) -> Labelled:
    sentence = Sentence.from_words(text.split())
    return decide(Scored(sentence, verdict, np.array(scores, np.float32).reshape(-1, 2)), NAMES, RULES)


def corpus() -> LabelledCorpus:
    results = [
        result("It may rain", (0, 0), (0.75, 0), (0.125, 0.25)),
        result("May may maybe", (0.5, 0), (1, 0), (0.25, 0)),
        result("rain", (0, 0.75), verdict=(0.25, 1.0)),
        result("may stop", (0.25, 0), (0.5, 0.125)),
        result(""),
    ]
    return labelled_corpus(results, NAMES, RULES)


def test_counts_by_hand() -> None:
    found = corpus()
    assert (found.sentences, found.words) == (5, 9)
    first, second = found.lexicons
    assert (first.label, first.sentences, first.sentences_with_a_marked_word, first.marked) == ("a", 3, 3, 4)
    may, stop = first.entries
    assert (may.word, may.marked, may.occurrences, may.sentences) == ("may", 3, 4, 2)
    assert may.mean_score == pytest.approx((0.75 + 0.5 + 1) / 3)
    assert (stop.word, stop.marked, stop.occurrences, stop.mean_score) == ("stop", 1, 1, 0.5)
    assert [(hit.left, hit.word, hit.right, hit.sentence) for hit in may.examples] == [
        ("May ", "may", " maybe", 2),
        ("It ", "may", " rain", 1),
    ]
    (rain,) = second.entries
    assert (rain.word, rain.marked, rain.occurrences, rain.sentences) == ("rain", 2, 2, 2)
    assert (second.sentences, second.sentences_with_a_marked_word) == (1, 2)


def test_what_thresholds_would_mark_by_hand() -> None:
    first, _ = corpus().lexicons
    at = {round(float(threshold), 2): n for n, threshold in enumerate(THRESHOLDS)}
    shares = {0.0: 9, 0.13: 6, 0.25: 6, 0.26: 4, 0.5: 4, 0.75: 2, 0.76: 1, 1.0: 1}
    assert [first.words_reaching[at[threshold]] for threshold in shares] == pytest.approx(
        [n / 9 for n in shares.values()]
    )
    assert first.sentences_reaching[at[0.5]] == pytest.approx(3 / 5)
    assert first.sentences_reaching[at[0.51]] == pytest.approx(2 / 5)


def test_examples_are_the_highest_of_different_sentences_the_earlier_first() -> None:
    results = [result("may may", (0.5 + n / 64, 0), (0.5, 0)) for n in range(8)] + [result("may", (0.5 + 7 / 64, 0))]
    (entry,) = labelled_corpus(results, NAMES, RULES).lexicons[0].entries
    assert [hit.sentence for hit in entry.examples] == [8, 9, 7, 6, 5]
    assert len(entry.examples) == EXAMPLES
    assert entry.sentences == 9


def test_scores_of_other_scales_and_no_sentences_at_all() -> None:
    found = labelled_corpus([result("may", (7, -3))], NAMES, RULES)
    assert found.lexicons[0].words_reaching[-1] == 1
    assert found.lexicons[1].words_reaching[:2] == (1, 0)
    empty = labelled_corpus([], NAMES, RULES)
    assert (empty.sentences, empty.words, empty.lexicons[0].entries) == (0, 0, ())
    assert set(empty.lexicons[0].words_reaching) == {0.0}


def test_plain_types() -> None:
    document = json.loads(json.dumps(corpus().to_json()))
    assert document["sentences"] == 5
    assert document["labels"]["b"]["entries"][0]["word"] == "rain"
    assert document["labels"]["a"]["entries"][0]["examples"][0] == {
        "score": 1.0,
        "sentence": 2,
        "left": "May ",
        "word": "may",
        "right": " maybe",
    }
    assert document["labels"]["a"]["rule"]["word_threshold"] == 0.5
    assert len(document["thresholds"]) == len(document["labels"]["a"]["words_reaching"]) == 101
