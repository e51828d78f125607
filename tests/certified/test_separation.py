"""Certificates that no plane separates, against planes and combinations by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from boundcheck.certified.separation import vanishes, vanishing_combination


def test_the_only_combination_of_three_rows() -> None:
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    found = vanishing_combination(rows)
    assert found is not None
    one, half, other = found  # (1, 1/2, 1) up to a factor
    assert (half, other) == (one / 2, one)
    assert vanishes(rows, [Fraction(1), Fraction(1, 2), Fraction(1)])


def test_every_row_counts_in_the_check() -> None:
    rows = np.array([[1.0], [-1.0], [2.0]])
    assert vanishes(rows, [Fraction(1), Fraction(3), Fraction(1)])
    assert not vanishes(rows, [Fraction(3), Fraction(3), Fraction(0)])  # 0 is not positive
    assert not vanishes(rows, [Fraction(1), Fraction(3), Fraction(1) + Fraction(1, 10**30)])


def test_doubles_that_are_no_round_numbers() -> None:
    random = np.random.default_rng(0)
    for count, d in ((40, 3), (60, 5), (200, 8)):
        rows = random.standard_normal((count, d))
        found = vanishing_combination(rows)
        assert found is not None
        assert min(found) > 0
        exact = [[Fraction(v) for v in row] for row in rows.tolist()]
        assert all(sum(w * row[k] for w, row in zip(found, exact, strict=True)) == 0 for k in range(d))


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 0.0], [2.0, 1.0], [1.0, -3.0]],  # the first coordinate is above 0
        [[1.0], [0.0], [2.0]],  # at least 0, and not always 0
        [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]],  # the third row would have to be away
        [[1.0, 1.0], [-1.0, -1.0]],  # no plane separates, but the rows do not span the plane
        [[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0]],
        [[0.0], [0.0]],
        [[3.0, 1.0]],
    ],
)
def test_separated_rows_and_those_that_do_not_span_have_none(rows: list[list[float]]) -> None:
    assert vanishing_combination(np.array(rows)) is None


def test_separated_rows_at_random_have_none() -> None:
    random = np.random.default_rng(1)
    for d in (2, 4):
        normal, rows = random.standard_normal(d), random.standard_normal((50, d))
        assert vanishing_combination(rows * np.sign(rows @ normal)[:, None]) is None
