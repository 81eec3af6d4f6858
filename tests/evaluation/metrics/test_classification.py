import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from zerotag.errors import ZerotagError
from zerotag.evaluation.metrics import (
    PRF,
    best_threshold_and_f1,
    precision_recall_f1,
    threshold_from_word_labels,
    word_counts,
)
from zerotag.evaluation.metrics.classification import f1_of_counts
from zerotag.types import BoolArray


def mask(bits: str) -> BoolArray:
    return np.array([bit == "1" for bit in bits], dtype=np.bool_)


def test_f05_by_hand() -> None:
    """1.25 P R / (0.25 P + R), of 2/3 and 1/2: 0.4167 / 0.6667."""
    assert precision_recall_f1(mask("11110000"), mask("11001000")).f05 == pytest.approx(0.625)
    assert precision_recall_f1(mask("010"), mask("000")).f05 == 0


def test_by_hand() -> None:
    # 2 right, 1 too many, 2 missed
    assert precision_recall_f1(mask("11110000"), mask("11001000")) == PRF(2 / 3, 1 / 2, 4 / 7, support=4, predicted=3)


def test_nothing_over_nothing_is_nothing() -> None:
    assert precision_recall_f1(mask("000"), mask("000")) == PRF(0.0, 0.0, 0.0, 0, 0)
    assert precision_recall_f1(mask("010"), mask("000")) == PRF(0.0, 0.0, 0.0, 1, 0)
    assert precision_recall_f1(mask("000"), mask("010")) == PRF(0.0, 0.0, 0.0, 0, 1)
    assert precision_recall_f1(mask(""), mask("")) == PRF(0.0, 0.0, 0.0, 0, 0)


def test_numbers_are_plain_python() -> None:
    prf = precision_recall_f1(mask("10"), mask("11"))
    assert [type(value) for value in (prf.precision, prf.recall, prf.f1, prf.support)] == [float, float, float, int]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_same_as_scikit_learn(items: list[tuple[bool, bool]]) -> None:
    gold, predicted = (np.array(column) for column in zip(*items, strict=True))
    expected = precision_recall_fscore_support(gold, predicted, average="binary", zero_division=0)[:3]
    prf = precision_recall_f1(gold, predicted)
    assert (prf.precision, prf.recall, prf.f1) == pytest.approx(expected)


def test_counts_of_each_sentence() -> None:
    golds = [mask("110"), mask(""), mask("0011")]
    predicted = [mask("101"), mask(""), mask("0010")]
    assert word_counts(golds, predicted).tolist() == [[1, 1, 1], [0, 0, 0], [1, 0, 1]]
    assert f1_of_counts(word_counts(golds, predicted)) == pytest.approx([1 / 2, 0, 2 / 3])


def test_sentences_must_match() -> None:
    with pytest.raises(ValueError, match="same sentences and words"):
        word_counts([mask("10")], [mask("1")])
    with pytest.raises(ValueError, match="same sentences and words"):
        word_counts([mask("10")], [mask("10"), mask("1")])
    with pytest.raises(ValueError, match="at least one sentence"):
        word_counts([], [])


def test_threshold_by_hand() -> None:
    golds = [mask("100"), mask("010")]
    scores = [np.array([0.9, 0.3, 0.1]), np.array([0.7, 0.6, 0.2])]
    # F1 at 0.9: 2/3, at 0.7: 1/2, at 0.6: 4/5, at 0.3: 2/3, ...
    assert threshold_from_word_labels(golds, scores) == 0.6
    assert best_threshold_and_f1(golds, scores) == pytest.approx((0.6, 4 / 5))


def test_of_equally_good_thresholds_the_highest_is_taken() -> None:
    # F1 at 0.9: 2/3; at 0.5: 2 * 2 / (4 + 2) = 2/3
    assert threshold_from_word_labels([mask("1001")], [np.array([0.9, 0.8, 0.7, 0.5])]) == 0.9


def test_threshold_needs_a_positive_word() -> None:
    with pytest.raises(ZerotagError, match="no word of the development set is positive"):
        threshold_from_word_labels([mask("00")], [np.array([0.9, 0.8])])
    assert best_threshold_and_f1([mask("00")], [np.array([0.9, 0.8])]) is None


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([-1.5, 0.0, 0.1, 0.25, 0.5, 0.7, 3.0])), min_size=1))
def test_no_threshold_is_better(words: list[tuple[bool, float]]) -> None:
    gold = np.array([True] + [positive for positive, _ in words])
    scores = np.array([0.5] + [score for _, score in words], dtype=np.float32)
    chosen = threshold_from_word_labels([gold], [scores])
    best = precision_recall_f1(gold, scores >= chosen).f1
    for threshold in np.linspace(-2, 4, 121):
        f1 = precision_recall_f1(gold, scores >= threshold).f1
        assert f1 <= best
        if threshold > scores[scores >= chosen].min():
            assert f1 < best
