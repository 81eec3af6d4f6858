import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerotag.evaluation.metrics import AOPC_PERCENTAGES, comprehensiveness, sufficiency, top_words


def test_by_hand() -> None:
    full = np.array([0.9, 0.8])
    assert comprehensiveness(full, np.array([0.3, 0.7])) == pytest.approx((0.6 + 0.1) / 2)
    assert sufficiency(full, np.array([0.9, 0.9])) == pytest.approx(-0.05)


def test_aopc_by_hand() -> None:
    full = np.array([0.9, 0.8])
    without = np.array([[0.9, 0.8, 0.7, 0.6, 0.5], [0.8, 0.8, 0.8, 0.8, 0.3]])
    assert without.shape[1] == len(AOPC_PERCENTAGES)
    assert comprehensiveness(full, without) == pytest.approx((0.0 + 0.1 + 0.2 + 0.3 + 0.4 + 0.5) / 10)


def test_aopc_is_the_mean_over_the_sizes() -> None:
    random = np.random.default_rng(0)
    full, only = random.random(7), random.random((7, 5))
    assert sufficiency(full, only) == pytest.approx(np.mean([sufficiency(full, only[:, i]) for i in range(5)]))


def test_sentences_must_match() -> None:
    for full, reduced in [([0.5], [0.5, 0.1]), ([], []), ([[0.5]], [0.5])]:
        with pytest.raises(ValueError, match="same sentences"):
            comprehensiveness(np.array(full), np.array(reduced))


def test_top_words_by_hand() -> None:
    scores = np.array([0.1, 0.9, 0.5, 0.9, 0.2, 0.3, 0.0, 0.0, 0.0, 0.0])
    assert np.flatnonzero(top_words(scores, 1)).tolist() == [1]  # at least one; the earlier of the two highest
    assert np.flatnonzero(top_words(scores, 20)).tolist() == [1, 3]
    assert np.flatnonzero(top_words(scores, 21)).tolist() == [1, 2, 3]


@given(st.lists(st.floats(-1, 1), max_size=40), st.integers(1, 100))
def test_top_words_are_enough_and_the_highest(scores: list[float], percentage: int) -> None:
    chosen = top_words(np.array(scores), percentage)
    count = int(chosen.sum())
    assert count * 100 >= len(scores) * percentage > (count - 1) * 100
    assert sorted(np.array(scores)[chosen], reverse=True) == sorted(scores, reverse=True)[:count]
