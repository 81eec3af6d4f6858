"""Scores on a scale whose middle is the threshold."""

from __future__ import annotations


def position(score: float, threshold: float) -> float:
    """Place of a score on a scale from 0 to 1 whose middle is the threshold.

    Scores from 0 to 1 use the whole scale. Others (weights of LIME, gradients) have no known ends: what lies
    beyond 0 and 1 is cut off, and a threshold that itself lies there gets a scale around it.
    """
    if score < threshold:
        bottom = 0.0 if threshold > 0 else threshold - 1
        return max(0.0, 0.5 * (score - bottom) / (threshold - bottom))
    top = 1.0 if threshold < 1 else 2 * threshold
    return min(1.0, 0.5 + 0.5 * (score - threshold) / (top - threshold))
