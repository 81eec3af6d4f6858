import pytest

from zerotag.render.scale import position


@pytest.mark.parametrize(
    ("score", "threshold", "expected"),
    [
        (0.0, 0.5, 0.0),
        (0.3, 0.5, 0.3),
        (0.5, 0.5, 0.5),
        (0.9, 0.5, 0.9),
        (1.0, 0.5, 1.0),
        (0.1, 0.2, 0.25),
        (0.6, 0.2, 0.75),
        (-3.0, 0.5, 0.0),
        (7.0, 0.5, 1.0),
        (-0.25, 0.0, 0.375),  # a threshold at the bottom
        (1.0, 0.0, 1.0),
        (3.0, 2.0, 0.75),  # and beyond the top
        (1.0, 2.0, 0.25),
    ],
)
def test_the_threshold_is_the_middle_of_the_scale(score: float, threshold: float, expected: float) -> None:
    assert position(score, threshold) == pytest.approx(expected)
