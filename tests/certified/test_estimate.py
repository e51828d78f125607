"""Constants estimated from gradients at points, against numbers worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest

from boundcheck.certified.constant import Known
from boundcheck.certified.estimate import (
    estimate_dissimilarity,
    estimate_local_variance,
    estimate_similarity,
    estimate_smoothness,
    upper_mean,
)
from boundcheck.errors import BadInput

F = Fraction

# two clients on the line at three points: gradients (1, 3), (0, 2), (-1, 1)
SEEN = [[[1.0], [3.0]], [[0.0], [2.0]], [[-1.0], [1.0]]]


def test_dissimilarity_of_what_was_seen():
    B2, G2 = estimate_dissimilarity(SEEN, ["1/2", "1/2"])
    # 5 - 4, 2 - 1, 1 - 0
    assert (B2.value, G2.value) == (1, 1)
    assert (B2.known, G2.known) == (Known.EXACT, Known.ESTIMATED)
    assert "3 points" in G2.how
    assert estimate_dissimilarity(SEEN, ["1/2", "1/2"], B2=2)[1].value == 1
    assert estimate_dissimilarity(SEEN[:1], ["1/2", "1/2"], B2=2)[1].value == 0


def test_local_variance_of_what_was_seen():
    assert estimate_local_variance(SEEN)[1].value == 1
    assert estimate_local_variance([[[0.0, 0.0], [2.0, 4.0]]], P2=F(1, 5))[1].value == 4  # 5 - 1/5 * 5


def test_slopes_between_points():
    assert estimate_smoothness([[0.0], [1.0], [3.0]], [[0.0], [1.0], [7.0]]).value == 3
    assert estimate_smoothness([[0.0], [0.0]], [[0.0], [1.0]]).value == 0  # the same point twice says nothing
    # client gradients x and 3x: their mean 2x, each 1 away
    seen = [[[0.0], [0.0]], [[1.0], [3.0]], [[2.0], [6.0]]]
    assert estimate_similarity([[0.0], [1.0], [2.0]], seen, [0.5, 0.5]).value == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: estimate_dissimilarity([[1.0]], [1]), "3 dimensions"),
        (lambda: estimate_dissimilarity([[[float("nan")]]], [1]), "finite"),
        (lambda: estimate_dissimilarity(SEEN, [1]), "as many weights"),
        (lambda: estimate_dissimilarity(SEEN, [1, 1]), "sum to 1"),
        (lambda: estimate_dissimilarity(SEEN, [0.5, 0.5], B2=-1), "at least 0"),
        (lambda: estimate_smoothness([[0.0]], [[0.0, 1.0]]), "must agree"),
        (lambda: estimate_similarity([[0.0]], SEEN, [0.5, 0.5]), "must agree"),
    ],
)
def test_bad_arrays_are_refused_in_a_sentence(call, message):
    with pytest.raises(BadInput, match=message):
        call()


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
    values = np.array([[1.0], [2.0], [3.0]])
    assert upper_mean(values, 10**9)[0] == pytest.approx(2 + 6.964557 / np.sqrt(3), rel=1e-6)
    for wrong, size in ((values, 2), (values[:1], 5)):
        with pytest.raises(BadInput, match="limit of their mean"):
            upper_mean(wrong, size)
