"""Which sentences to label next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import tiny
from zerotag.active.similarity import Seen
from zerotag.active.suggest import suggest
from zerotag.errors import ZerotagError
from zerotag.labeller import Labeller
from zerotag.types import Scored, Sentence

WORDS = tuple(f"w{number}" for number in range(400))


class Known(Labeller):
    """Scores that tests know: a sentence is called positive if it begins with `pos`; doubtful words score 0.5."""

    def __init__(self) -> None:
        original = tiny.labeller()
        super().__init__(original.predictor, original.aligner, original.manifest)

    def score(self, sentences: Iterable[Sentence], **_: Any) -> Iterator[Scored]:
        for sentence in sentences:
            by_word = {"doubt": 0.5, "doubt2": 0.45, "sure": 0.99}
            scores = np.array([[by_word.get(word, 0.001)] for word in sentence.words], np.float32).reshape(-1, 1)
            yield Scored(sentence, (0.9 if sentence.text.startswith("pos") else 0.1,), scores)


def sentence(kind: str, number: int, *more: str) -> str:
    return " ".join([kind, *WORDS[7 * number : 7 * number + 7], *more])


def test_most_are_called_positive_and_doubtful_ones_come_first() -> None:
    pool = [sentence("pos", i, "sure") for i in range(20)] + [sentence("neg", i) for i in range(20, 40)]
    pool += [sentence("pos", 40 + i, "sure", "doubt", "doubt") for i in range(5)]
    chosen = suggest(Known(), pool, n=15)
    assert len(chosen) == len({one.number for one in chosen}) == 15
    assert sum(one.labelled.label is not None for one in chosen) == 9
    assert sum(one.number >= 40 for one in chosen) == sum(one.number >= 40 for one in chosen[:5]) >= 3
    assert chosen[0].reason == "unsure of 'doubt', 'doubt'"
    assert pool[chosen[0].number] == chosen[0].labelled.text


def test_sentences_that_contradict_their_words_are_doubtful_and_say_so() -> None:
    pool = [sentence("pos", i, "sure") for i in range(20)]
    pool += [sentence("pos", 30), sentence("neg", 31, "sure")]
    reasons = {one.number: one.reason for one in suggest(Known(), pool, n=22)}
    assert reasons[20] == "called hedge, but none of its words is"
    assert reasons[21] == "not called hedge, though 'sure' would make it so"
    assert reasons[0] == "to check that nothing is missed where the model is sure"
    assert next(one.number for one in suggest(Known(), pool, n=22)) in (20, 21)


def test_no_fifty_paraphrases() -> None:
    copies = [sentence("pos", 0, "doubt", f"x{i}") for i in range(50)]
    others = [sentence("pos", i, "sure") for i in range(1, 6)]
    chosen = suggest(Known(), copies + others, n=20)
    assert len(chosen) == 6
    assert sum(one.number < 50 for one in chosen) == 1


def test_near_copies_are_told_by_the_words_they_share() -> None:
    seen = Seen()
    seen.add(Sentence.from_words(["The", "pump", "may", "fail", "."]))
    assert seen.like(Sentence.from_words(["the", "pump", "may", "leak", "."]))  # 4 of 6
    assert not seen.like(Sentence.from_words(["the", "pump", "will", "leak", "."]))  # 3 of 7


def test_the_same_seed_gives_the_same_sentences() -> None:
    pool = [sentence("pos", i, "doubt") for i in range(40)]
    drawn = [[one.number for one in suggest(Known(), pool, n=5, seed=seed)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_cannot_be_chosen_from() -> None:
    with pytest.raises(ZerotagError, match="n is 0; it must be 1 or more"):
        suggest(Known(), ["pos"], n=0)
    with pytest.raises(ZerotagError, match="there is no text with words to choose from"):
        suggest(Known(), ["", " "], n=1)
