"""The upper confidence limit of a mean: how often it covers the mean, and one value by hand."""

import numpy as np
import pytest

from boundcheck.certified.estimate import upper_mean
from boundcheck.errors import BadInput

VALUES = np.array([[1.0], [2.0], [3.0]])


def test_the_limit_of_a_mean_covers_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    whole = rng.exponential(size=(200, 2))
    hits = np.zeros(2)
    for _ in range(400):
        part = whole[rng.choice(200, 60, replace=False)]
        hits += upper_mean(part, 200, 0.95) >= whole.mean(axis=0)
    assert (hits >= 0.9 * 400).all()  # skewed numbers: a little below 95 %
    assert (hits <= 0.99 * 400).all()
    np.testing.assert_allclose(upper_mean(whole, 200), whole.mean(axis=0))
    # three numbers: Student's 99 % quantile with 2 degrees of freedom is 6.9646
    assert upper_mean(VALUES, 10**9)[0] == pytest.approx(2 + 6.964557 / np.sqrt(3), rel=1e-6)
    assert upper_mean(VALUES, 4)[0] == pytest.approx(2 + 6.964557 / np.sqrt(12), rel=1e-6)  # 3 of 4


@pytest.mark.parametrize(
    ("values", "size", "message"),
    [
        (VALUES, 2, "limit of their mean"),
        (VALUES[:1], 5, "limit of their mean"),
        (VALUES[0], 5, "2 dimensions"),
        ([[float("nan")]], 1, "finite"),
    ],
)
def test_numbers_without_a_limit_are_refused_in_a_sentence(values: object, size: int, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        upper_mean(values, size)
