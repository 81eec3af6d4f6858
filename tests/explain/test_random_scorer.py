from __future__ import annotations

import numpy as np
from scipy import stats

from zerotag.explain.random import RandomScorer
from zerotag.types import FloatArray, Sentence


def scores(words: list[str], *, seed: int = 0, labels: int = 2) -> FloatArray:
    (scored,) = RandomScorer(labels, seed=seed).score([Sentence.from_words(words)])
    return scored.word_scores


def test_scores_are_uniform_and_independent() -> None:
    drawn = np.concatenate([scores([f"word{i}", "same", "same"]) for i in range(3000)])
    assert stats.kstest(drawn.ravel(), "uniform").pvalue > 0.01
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.05
    assert ((drawn >= 0) & (drawn < 1)).all()


def test_scores_follow_from_the_seed_and_the_words() -> None:
    assert np.array_equal(scores(["a", "b"]), scores(["a", "b"]))
    assert not np.array_equal(scores(["a", "b"]), scores(["a", "b"], seed=1))
    assert not np.array_equal(scores(["a", "b"]), scores(["b", "a"]))
    assert not np.array_equal(scores(["a b", "c"]), scores(["a", "b c"]))


def test_any_word_will_do() -> None:
    assert scores([]).shape == (0, 2)
    assert scores(["", "\ud800", "🙂"]).shape == (3, 2)
