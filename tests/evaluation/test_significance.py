from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from zerotag.evaluation import significance
from zerotag.evaluation.metrics.ragged import Floats, Ints
from zerotag.evaluation.significance import (
    Summary,
    mean_and_deviation,
    paired_t_test,
    randomisation_test_f1,
    randomisation_test_map,
)

measures = st.floats(0, 100)


def counts(sentences: int, seed: int) -> Ints:
    return np.random.default_rng(seed).integers(0, 4, (sentences, 3))


def f1(table: Ints) -> float:
    true_positives, false_positives, false_negatives = table.sum(axis=0)
    return float(2 * true_positives / (2 * true_positives + false_positives + false_negatives))


def mean_f1(runs: Ints) -> float:
    return float(np.mean([f1(runs[:, run]) for run in range(runs.shape[1])]))


def exact_p_f1(first: Ints, second: Ints) -> float:
    """Every one of the 2 ** n ways to swap."""
    observed, as_large = abs(f1(first) - f1(second)), 0
    for swaps in product([False, True], repeat=len(first)):
        swap = np.array(swaps)[:, np.newaxis]
        difference = f1(np.where(swap, second, first)) - f1(np.where(swap, first, second))
        as_large += abs(difference) >= observed - 1e-12
    return float(as_large / 2 ** len(first))


def exact_p_map(first: Floats, second: Floats) -> float:
    observed = abs(first.mean() - second.mean())
    signs = np.array(list(product([-1, 1], repeat=len(first))))
    return float(np.mean(np.abs(signs @ (first - second)) / len(first) >= observed - 1e-12))


def test_mean_and_deviation_by_hand() -> None:
    summary = mean_and_deviation([1.0, 2.0, 6.0])
    assert (summary.mean, summary.n) == (3.0, 3)
    assert summary.std == pytest.approx(7**0.5)
    assert mean_and_deviation([4.5]) == Summary(4.5, None, 1)
    with pytest.raises(ValueError, match="at least one value"):
        mean_and_deviation([])


def test_t_test_by_hand() -> None:
    # differences 1, 2, 3: t = 2 / (1 / √3) = 3.4641 with 2 degrees of freedom, p = 1 - t / √(t² + 2)
    assert paired_t_test([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]) == pytest.approx(1 - (12 / 14) ** 0.5)


def test_t_test_without_spread() -> None:
    assert paired_t_test([1.0], [2.0]) is None
    assert paired_t_test([1.0, 2.0], [1.0, 2.0]) == 1
    assert paired_t_test([2.0, 3.0], [1.0, 2.0]) == 0


@given(st.lists(st.tuples(measures, measures), min_size=2, max_size=10))
def test_t_test_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    first, second = (list(column) for column in zip(*pairs, strict=True))
    assume(np.ptp(np.subtract(first, second)) > 1e-3)
    assert paired_t_test(first, second) == pytest.approx(ttest_rel(first, second).pvalue)
    assert paired_t_test(second, first) == paired_t_test(first, second)


@pytest.mark.parametrize("seed", range(4))
def test_f1_as_in_the_exact_test(seed: int) -> None:
    first, second = counts(9, seed), counts(9, seed + 100)
    assert randomisation_test_f1(first, second) == pytest.approx(exact_p_f1(first, second), abs=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_the_mean_f1_of_several_runs_as_in_the_exact_test(seed: int) -> None:
    """By hand, where runs whose counts were added up would give another answer: one run has far more of them."""
    scale = np.array([1, 20])[:, np.newaxis]
    first, second = (np.stack([counts(8, one), counts(8, one + 7)], axis=1) * scale for one in (seed, seed + 100))
    observed, as_large = abs(mean_f1(first) - mean_f1(second)), 0
    for swaps in product([False, True], repeat=8):
        swap = np.array(swaps)[:, np.newaxis, np.newaxis]
        difference = mean_f1(np.where(swap, second, first)) - mean_f1(np.where(swap, first, second))
        as_large += abs(difference) >= observed - 1e-12
    assert randomisation_test_f1(first, second) == pytest.approx(as_large / 2**8, abs=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_map_as_in_the_exact_test(seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = random.random(9), random.random(9) + 0.1
    assert randomisation_test_map(first, second) == pytest.approx(exact_p_map(first, second), abs=0.02)


def test_rounds_in_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = counts(9, 0), counts(9, 100)
    monkeypatch.setattr(significance, "SWAPS_AT_ONCE", 9 * 37)
    assert randomisation_test_f1(first, second) == pytest.approx(exact_p_f1(first, second), abs=0.02)


def test_map_leaves_out_sentences_without_a_positive_word() -> None:
    first, second = np.array([0.9, np.nan, 0.4, 0.8]), np.array([0.3, np.nan, 0.5, 0.2])
    kept = ~np.isnan(first)
    assert randomisation_test_map(first, second) == randomisation_test_map(first[kept], second[kept])


def test_alike_systems_and_very_different_ones() -> None:
    same = counts(50, 3)
    assert randomisation_test_f1(same, same) == 1
    right, wrong = np.tile([3, 0, 0], (200, 1)), np.tile([1, 2, 2], (200, 1))
    assert randomisation_test_f1(right, wrong) == 1 / 10_001
    assert randomisation_test_map(np.full(200, 0.9), np.full(200, 0.2), rounds=999) == 1 / 1000


def test_both_directions_and_the_same_seed_agree() -> None:
    first, second = counts(40, 5), counts(40, 6)
    p = randomisation_test_f1(first, second, seed=7)
    assert p == randomisation_test_f1(first, second, seed=7)
    assert p == randomisation_test_f1(second, first, seed=7)
    assert p != randomisation_test_f1(first, second, seed=8)


def test_under_chance_small_p_values_are_rare() -> None:
    random = np.random.default_rng(2)
    p_values = [randomisation_test_map(random.random(30), random.random(30), rounds=199) for _ in range(300)]
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_sentences_must_match() -> None:
    with pytest.raises(ValueError, match="same sentences"):
        randomisation_test_f1(counts(3, 0), counts(4, 0))
    with pytest.raises(ValueError, match="same sentences"):
        randomisation_test_map(np.array([0.5, np.nan]), np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match="at least one"):
        randomisation_test_map(np.array([np.nan]), np.array([np.nan]))
