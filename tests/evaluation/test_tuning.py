"""What word labels choose."""

from __future__ import annotations

import numpy as np
import pytest

import tiny
from zerotag.errors import ZerotagError
from zerotag.evaluation.tuning import WORD_LABELS, rules_from_word_labels, scorer_from_word_labels
from zerotag.types import GoldExample, Rule, Scored, Sentence

SENTENCE = Sentence.from_words(["a", "b", "c", "d"])
GOLD = GoldExample(SENTENCE, (True, True), ((True, False), (False, True), (True, True), (False, True)))
SCORED = Scored(SENTENCE, (0.9, 0.2), np.array([[0.8, 0.1], [0.6, -0.3], [0.7, -0.2], [0.1, -0.4]]))


def test_the_best_threshold_of_each_label() -> None:
    """Of the first, from 0.7 on both positive words and no other; of the second, F1 is highest with all words."""
    rules = rules_from_word_labels([(GOLD, SCORED)], ("x", "y"), [Rule(0.5, 0.3), Rule(0.5, 0.4, "sentence labels")])
    assert rules == (Rule(0.7, 0.3, WORD_LABELS), Rule(-0.4, 0.4, WORD_LABELS))


def test_sentences_without_word_labels_have_no_say() -> None:
    silent = GoldExample(SENTENCE, (True, True), None)
    pairs = [(GOLD, SCORED), (silent, SCORED)]
    alone = rules_from_word_labels(pairs[:1], ("x", "y"), [Rule(), Rule()])
    assert rules_from_word_labels(pairs, ("x", "y"), [Rule(), Rule()]) == alone


def test_other_methods_have_nothing_to_choose() -> None:
    assert scorer_from_word_labels("occlusion", tiny.labeller(), []).name == "occlusion"


def test_no_head_can_be_chosen_without_a_positive_word() -> None:
    with pytest.raises(ZerotagError, match="there is no positive word among these"):
        scorer_from_word_labels("heads", tiny.labeller(), [GoldExample(SENTENCE, (False,), ((False,),) * 4)])
