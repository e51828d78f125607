"""Bounds of eigenvalues: certificates that fail when they are nudged, and values that are recognised."""

import math
from fractions import Fraction

import pytest
from flint import fmpq_mat

from boundcheck.certified.definite import EigenBound, largest_eigenvalue, least_eigenvalue
from boundcheck.core.linalg import identity, is_psd, matrix, rational
from boundcheck.errors import BadInput


def upper(a: fmpq_mat) -> EigenBound:
    return largest_eigenvalue([a], recognised=True)


def test_eigenvalue_bounds_of_a_known_matrix():
    # eigenvalues 2 -+ sqrt(2)
    a = matrix([[1, 1], [1, 3]])
    up, down = upper(a), least_eigenvalue(a)
    assert not up.exact
    assert not down.exact
    assert (up.value - 2) ** 2 >= 2  # value >= 2 + sqrt(2), decided exactly
    assert (2 - down.value) ** 2 >= 2
    assert float(up.value) == pytest.approx(2 + math.sqrt(2), rel=1.1e-12)
    assert float(down.value) == pytest.approx(2 - math.sqrt(2), rel=1.1e-12)
    assert max(len(str(up.value)), len(str(down.value))) < 40


def test_rational_eigenvalues_are_found_exactly():
    assert upper(matrix([[2, 1], [1, 2]])) == (3, True)
    assert least_eigenvalue(matrix([[2, 1], [1, 2]])) == (1, True)
    assert least_eigenvalue(matrix([[1, 1], [1, 1]])) == (2, True)  # the smallest nonzero one
    assert upper(matrix([[-1, 0], [0, -2]])) == (-1, True)
    assert upper(matrix([[-1, 1], [1, -1]])) == (0, True)
    assert upper(fmpq_mat(2, 2)) == (0, True)


@pytest.mark.parametrize("exponent", [-3000, -400, 300, 400, 3000])
def test_eigenvalues_beyond_the_doubles(exponent):
    unit = Fraction(10) ** exponent
    a = matrix([[1, 1], [1, 3]]) * rational(unit)  # 2 -+ sqrt(2)
    up, down = upper(a).value / unit, least_eigenvalue(a).value / unit
    assert (up - 2) ** 2 >= 2 > (up * (1 - Fraction(2, 10**12)) - 2) ** 2
    assert (2 - down) ** 2 >= 2 > (2 - down * (1 + Fraction(2, 10**12))) ** 2
    lone = matrix([[unit, 0], [0, 1]])
    assert upper(lone) == (max(unit, 1), True)
    assert least_eigenvalue(lone) == (min(unit, 1), True)


@pytest.mark.parametrize("size", [6, 10])
def test_certificates_fail_when_nudged_past_the_eigenvalue(size):
    # Hilbert matrices: condition 1e7 and 1e13, so that double precision knows the small end badly or not at all
    a = matrix([[Fraction(1, i + j + 1) for j in range(size)] for i in range(size)])
    up, down = upper(a).value, least_eigenvalue(a).value
    one = identity(size)
    nudge = 1 - Fraction(11, 10**13)
    assert is_psd(one * rational(up) - a)
    assert not is_psd(one * rational(up * nudge) - a)
    assert is_psd(a - one * rational(down))
    assert not is_psd(a - one * rational(down / nudge))


def test_least_eigenvalue_refuses_what_has_none():
    for a in (fmpq_mat(2, 2), matrix([[1, 2], [2, 1]])):
        with pytest.raises(BadInput, match="positive semidefinite"):
            least_eigenvalue(a)
