"""How an improved model is measured: on sentences that its thresholds were not chosen on."""

from __future__ import annotations

import numpy as np
import pytest

from zerotag.serve.workspace.improving import FOLDS, changed_words, rates
from zerotag.types import CorrectedExample, Rule, Scored, Sentence

HIGH, LOW = Rule(word_threshold=0.5), Rule(word_threshold=0.2)


def pair(words: str, scores: list[float], gold: list[bool]) -> tuple[CorrectedExample, Scored]:
    sentence = Sentence.from_words(words.split())
    example = CorrectedExample(sentence, (any(gold),), tuple((yes,) for yes in gold))
    return example, Scored(sentence, (0.9,), np.array(scores).reshape(-1, 1))


PAIRS = [pair("it may rain", [0.1, 0.3, 0.6], [False, True, False])] * 5 + [pair("it holds", [0.1, 0.2], [False] * 2)]


def test_rates_by_hand() -> None:
    assert rates(PAIRS, lambda _: [HIGH]) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    found = rates(PAIRS, lambda _: [LOW])  # "may" and "rain" five times, "holds" once: 5 of 11 are right
    assert found == pytest.approx({"precision": 5 / 11, "recall": 1.0, "f1": 10 / 16})


def test_no_sentence_is_measured_by_rules_that_saw_it() -> None:
    seen: list[list[int]] = []

    def rules(pairs: object) -> list[Rule]:
        seen.append([id(one) for one in pairs])  # type: ignore[attr-defined]
        return [HIGH]

    pairs = [pair(f"word{number}", [0.5], [True]) for number in range(13)]
    rates(pairs, rules)
    assert len(seen) == FOLDS
    for fold, others in enumerate(seen):
        assert sorted(others) == sorted(id(one) for i, one in enumerate(pairs) if i % FOLDS != fold)


def test_words_that_change_are_counted() -> None:
    found = changed_words([scored for _, scored in PAIRS], ["hedge"], [HIGH], [LOW])
    assert found == [
        {"word": "may", "label": "hedge", "marked": True, "count": 5},
        {"word": "holds", "label": "hedge", "marked": True, "count": 1},
    ]
