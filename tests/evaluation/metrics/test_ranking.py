from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import auc, average_precision_score, precision_recall_curve

from zerotag.evaluation.metrics import Variant, average_precisions, mean_average_precision
from zerotag.evaluation.metrics.ragged import Floats
from zerotag.evaluation.metrics.ranking import areas_under_curve
from zerotag.types import BoolArray

VARIANTS: tuple[Variant, ...] = ("standard", "clipped", "positional")
GRID = [-2.0, -0.5, -0.25, 0.0, 0.125, 0.5, 1.0, 7.0]  # few values, so that ties are common
Sentences = list[list[tuple[bool, float]]]
sentences = st.lists(st.lists(st.tuples(st.booleans(), st.sampled_from(GRID)), max_size=9), min_size=1, max_size=6)


def average_precision(gold: BoolArray, scores: Floats, variant: Variant = "standard") -> float | None:
    """Of one sentence."""
    return mean_average_precision([gold], [scores], variant)


def split(given_sentences: Sentences) -> tuple[list[BoolArray], list[Floats]]:
    golds = [np.array([positive for positive, _ in words], dtype=np.bool_) for words in given_sentences]
    scores = [np.array([score for _, score in words], dtype=np.float64) for words in given_sentences]
    return golds, scores


def one_by_one(golds: list[BoolArray], scores: list[Floats], variant: Variant) -> list[float]:
    """The definitions, word for word, one sentence at a time."""
    values = []
    for gold, score in zip(golds, scores, strict=True):
        if not gold.any():
            values.append(float("nan"))
        elif variant == "positional":
            ranked = gold[np.argsort(score, kind="stable")[::-1]]
            values.append(float(np.mean([ranked[: i + 1].mean() for i in np.flatnonzero(ranked)])))
        else:
            values.append(average_precision_score(gold, np.maximum(score, 0) if variant == "clipped" else score))
    return values


def test_by_hand() -> None:
    # ranked: + - + - : precision 1 at the first positive, 2/3 at the second
    assert average_precision(np.array([False, True, True, False]), np.array([0.6, 0.9, 0.4, 0.1])) == pytest.approx(
        (1 + 2 / 3) / 2
    )


def test_ties_by_hand() -> None:
    gold, scores = np.array([True, False, False]), np.array([0.5, 0.5, 0.1])
    assert average_precision(gold, scores) == pytest.approx(1 / 2)  # the two share a rank
    assert average_precision(gold, scores, "positional") == pytest.approx(1 / 2)  # the later word comes first
    assert average_precision(gold[::-1], scores[::-1], "positional") == pytest.approx(1)


def test_clipping_by_hand() -> None:
    gold, scores = np.array([True, False, False]), np.array([-0.1, -0.2, -0.3])
    assert average_precision(gold, scores) == 1
    assert average_precision(gold, scores, "clipped") == pytest.approx(1 / 3)  # all are tied at 0


def test_mean_is_over_sentences_with_a_positive_word() -> None:
    golds = [np.array([True, False]), np.array([False, False]), np.array([True, False])]
    scores = [np.array([0.2, 0.1]), np.array([0.9, 0.8]), np.array([0.1, 0.2])]
    assert average_precisions(golds, scores) == pytest.approx([1, np.nan, 1 / 2], nan_ok=True)
    assert mean_average_precision(golds, scores) == pytest.approx(3 / 4)


def test_none_without_a_positive_word() -> None:
    assert average_precision(np.array([False]), np.array([0.3])) is None
    assert mean_average_precision([np.array([], dtype=np.bool_)], [np.array([])]) is None


def test_scores_must_be_finite() -> None:
    with pytest.raises(ValueError, match="finite"):
        average_precision(np.array([True, False]), np.array([np.nan, 0.1]))


@pytest.mark.parametrize("variant", VARIANTS)
@given(given_sentences=sentences)
def test_same_as_one_sentence_at_a_time(variant: Variant, given_sentences: Sentences) -> None:
    golds, scores = split(given_sentences)
    expected = one_by_one(golds, scores, variant)
    assert average_precisions(golds, scores, variant) == pytest.approx(expected, nan_ok=True)


@given(sentences)
def test_area_is_that_of_scikit_learn(given_sentences: Sentences) -> None:
    golds, scores = split(given_sentences)
    for gold, score, area in zip(golds, scores, areas_under_curve(golds, scores), strict=True):
        if gold.any():
            precision, recall, _ = precision_recall_curve(gold, score)
            assert area == pytest.approx(auc(recall, precision))
        else:
            assert np.isnan(area)


@pytest.mark.parametrize("variant", ["standard", "positional"])
@given(given_sentences=sentences)
def test_only_the_order_of_scores_matters(variant: Variant, given_sentences: Sentences) -> None:
    golds, scores = split(given_sentences)
    curved = [np.arctan(score) * 3 - 1 for score in scores]
    assert mean_average_precision(golds, curved, variant) == mean_average_precision(golds, scores, variant)


@given(sentences, st.randoms())
def test_the_order_of_sentences_and_words_does_not_matter(given_sentences: Sentences, random: Random) -> None:
    shuffled = [random.sample(words, len(words)) for words in random.sample(given_sentences, len(given_sentences))]
    for variant in VARIANTS[:2]:
        expected = mean_average_precision(*split(given_sentences), variant)
        assert mean_average_precision(*split(shuffled), variant) == pytest.approx(expected)


@given(sentences)
def test_perfect_ranking_is_one(given_sentences: Sentences) -> None:
    golds, _ = split(given_sentences)
    for variant in VARIANTS:
        perfect = mean_average_precision(golds, [gold.astype(np.float64) for gold in golds], variant)
        assert perfect == (pytest.approx(1) if any(gold.any() for gold in golds) else None)


def test_random_ranking() -> None:
    gold = np.array([True, True, False, False, False])
    orders = [np.array(order, dtype=np.float64) for order in permutations(range(5))]
    expected = np.mean([average_precision(gold, order) for order in orders])
    # two positives among five: the mean of (1/i + 2/j) / 2 over the ten pairs of ranks i < j
    assert expected == pytest.approx(np.mean([(1 / i + 2 / j) / 2 for j in range(2, 6) for i in range(1, j)]))
    random = np.random.default_rng(1)
    estimate = mean_average_precision([gold] * 20_000, list(random.random((20_000, 5))))
    assert estimate == pytest.approx(expected, abs=0.01)
