"""Reliability bins and their error, beside numbers computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from zerotag.calibration import calibration_error
from zerotag.evaluation.reliability import reliability


def test_bins_by_hand() -> None:
    bins = reliability([0.0, 0.05, 0.5, 0.55, 0.55, 1.0], [False, True, True, False, False, True])
    assert [(one.positive, one.size) for one in bins] == [(0.5, 2), (pytest.approx(1 / 3), 3), (1.0, 1)]
    assert [one.score for one in bins] == pytest.approx([0.025, 1.6 / 3, 1.0])
    by_hand = (2 * abs(0.025 - 0.5) + 3 * abs(1.6 / 3 - 1 / 3) + 0) / 6
    assert calibration_error(bins) == pytest.approx(by_hand)


def test_bins_as_scikit_learn_has_them() -> None:
    draw = np.random.default_rng(0)
    scores = draw.random(500)
    gold = draw.random(500) < scores**2
    bins = reliability(scores, gold)
    positive, mean = calibration_curve(gold, scores, n_bins=10)
    assert [one.positive for one in bins] == pytest.approx(positive.tolist())
    assert [one.score for one in bins] == pytest.approx(mean.tolist())
    assert sum(one.size for one in bins) == 500


def test_scores_that_are_probabilities_have_no_error() -> None:
    assert calibration_error(reliability([0.25] * 4 + [1.0], [True, False, False, False, True])) == 0
    assert calibration_error(()) == 0
