"""Exact linear algebra: definiteness, projectors, certified eigenvalues, outward rounding."""

import math
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq_mat

from boundcheck.core import linalg as la
from boundcheck.errors import BadInput


@pytest.mark.parametrize(
    ("rows", "psd", "pd"),
    [
        ([[2, 1], [1, 2]], True, True),
        ([[1, 1], [1, 1]], True, False),
        ([[1, 2], [2, 1]], False, False),
        ([[0, 0], [0, 1]], True, False),
        ([[0, 1], [1, 0]], False, False),  # zero pivot over a nonzero column
        ([[0, 0], [0, -1]], False, False),
        ([[0, 0, 0], [0, 2, 1], [0, 1, 2]], True, False),
        ([["1/3", "1/7"], ["1/7", "3/49"]], True, False),  # determinant exactly 0
        ([["1/3", "1/7"], ["1/7", "2999999999999/49000000000000"]], False, False),
    ],
)
def test_definiteness(rows, psd, pd):
    assert la.is_psd(la.matrix(rows)) is psd
    assert la.is_pd(la.matrix(rows)) is pd


def test_definiteness_agrees_with_eigenvalues_on_random_matrices():
    rng = np.random.default_rng(1)
    seen = {True: 0, False: 0}
    for _ in range(200):
        m = rng.integers(-3, 4, size=(4, 4))
        m = m + m.T + 8 * np.eye(4, dtype=int)
        least = np.linalg.eigvalsh(m)[0]
        if abs(least) < 1e-9:
            continue
        seen[least > 0] += 1
        assert la.is_psd(la.matrix(m)) == (least > 0)
    assert min(seen.values()) > 20


def test_a_matrix_that_is_not_symmetric_is_refused():
    with pytest.raises(BadInput, match="symmetric"):
        la.is_psd(la.matrix([[1, 2], [0, 1]]))


def test_eigenvalue_bounds_of_a_known_matrix():
    # eigenvalues 2 -+ sqrt(2)
    a = la.matrix([[1, 1], [1, 3]])
    up, down = la.upper_eigenvalue(a), la.lower_eigenvalue(a)
    assert not up.exact
    assert not down.exact
    assert (up.value - 2) ** 2 >= 2  # value >= 2 + sqrt(2), decided exactly
    assert (2 - down.value) ** 2 >= 2
    assert float(up.value) == pytest.approx(2 + math.sqrt(2), rel=1.1e-12)
    assert float(down.value) == pytest.approx(2 - math.sqrt(2), rel=1.1e-12)
    assert max(len(str(up.value)), len(str(down.value))) < 40


def test_rational_eigenvalues_are_found_exactly():
    assert la.upper_eigenvalue(la.matrix([[2, 1], [1, 2]])) == (3, True)
    assert la.lower_eigenvalue(la.matrix([[2, 1], [1, 2]])) == (1, True)
    assert la.lower_eigenvalue(la.matrix([[1, 1], [1, 1]])) == (2, True)  # the smallest nonzero one
    assert la.upper_eigenvalue(la.matrix([[-1, 0], [0, -2]])) == (-1, True)
    assert la.upper_eigenvalue(la.matrix([[-1, 1], [1, -1]])) == (0, True)
    assert la.upper_eigenvalue(fmpq_mat(2, 2)) == (0, True)


@pytest.mark.parametrize("exponent", [-3000, -400, 300, 400, 3000])
def test_eigenvalues_beyond_the_doubles(exponent):
    unit = Fraction(10) ** exponent
    a = la.matrix([[1, 1], [1, 3]]) * la.rational(unit)  # 2 -+ sqrt(2)
    up, down = la.upper_eigenvalue(a).value / unit, la.lower_eigenvalue(a).value / unit
    assert (up - 2) ** 2 >= 2 > (up * (1 - Fraction(2, 10**12)) - 2) ** 2
    assert (2 - down) ** 2 >= 2 > (2 - down * (1 + Fraction(2, 10**12))) ** 2
    lone = la.matrix([[unit, 0], [0, 1]])
    assert la.upper_eigenvalue(lone) == (max(unit, 1), True)
    assert la.lower_eigenvalue(lone) == (min(unit, 1), True)


@pytest.mark.parametrize("size", [6, 10])
def test_certificates_fail_when_nudged_past_the_eigenvalue(size):
    # Hilbert matrices: condition 1e7 and 1e13, so that double precision knows the small end badly or not at all
    a = la.matrix([[Fraction(1, i + j + 1) for j in range(size)] for i in range(size)])
    up, down = la.upper_eigenvalue(a).value, la.lower_eigenvalue(a).value
    one = la.identity(size)
    nudge = 1 - Fraction(11, 10**13)
    assert la.is_psd(one * la.rational(up) - a)
    assert not la.is_psd(one * la.rational(up * nudge) - a)
    assert la.is_psd(a - one * la.rational(down))
    assert not la.is_psd(a - one * la.rational(down / nudge))


def test_lower_eigenvalue_refuses_what_has_none():
    with pytest.raises(BadInput, match="positive semidefinite"):
        la.lower_eigenvalue(fmpq_mat(2, 2))
    with pytest.raises(BadInput, match="positive semidefinite"):
        la.lower_eigenvalue(la.matrix([[1, 2], [2, 1]]))


def test_range_projector():
    a = la.matrix([[1, 2, 0], [2, 4, 0], [0, 0, 0]])
    p = la.range_projector(a)
    assert p == la.matrix([["1/5", "2/5", 0], ["2/5", "4/5", 0], [0, 0, 0]])
    assert la.range_projector(la.identity(3)) == la.identity(3)
    assert la.range_projector(fmpq_mat(2, 2)) == fmpq_mat(2, 2)


def test_solving_consistent_and_inconsistent_systems():
    a = la.matrix([[1, 1], [1, 1]])
    x = la.solve_any(a, la.column([3, 3]))
    assert a * x == la.column([3, 3])
    assert la.solve_any(a, la.column([3, 4])) is None
    assert la.solve_any(la.matrix([[2, 0], [0, 4]]), la.column([1, 1])) == la.column(["1/2", "1/4"])


def test_floats_mean_their_exact_binary_value():
    assert la.fraction(la.matrix([[0.1]])[0, 0]) == Fraction(0.1)
    assert la.fraction(la.matrix([["0.1"]])[0, 0]) == Fraction(1, 10)
    assert la.floats(la.matrix([["1/3", 2]])).tolist() == [[1 / 3, 2.0]]
    with pytest.raises(BadInput, match="not finite"):
        la.matrix([[float("nan")]])
    with pytest.raises(BadInput, match="different lengths"):
        la.matrix([[1, 2], [3]])


def test_outward_rounding_of_fractions():
    third = Fraction(1, 3)
    assert Fraction(la.float_down(third)) < third < Fraction(la.float_up(third))
    assert la.float_up(third) == math.nextafter(la.float_down(third), 1)
    assert la.float_down(Fraction(1, 4)) == la.float_up(Fraction(1, 4)) == 0.25
    assert la.float_up(Fraction(1, 10**400)) == 5e-324
    assert la.float_down(Fraction(1, 10**400)) == 0.0
    assert la.float_down(Fraction(10**400)) == sys.float_info.max
    assert la.float_up(Fraction(10**400)) == math.inf
    assert math.copysign(1, la.float_up(Fraction(0))) == 1


def test_outward_rounding_of_balls():
    with la.precision(200):
        third = arb(1) / 3
        tiny, huge = arb((1, -5000)), arb((1, 5000))
        around = arb(0, 1e-3)
    assert Fraction(la.float_down(third)) < Fraction(1, 3) < Fraction(la.float_up(third))
    assert la.float_up(third) == math.nextafter(la.float_down(third), 1)
    assert la.outward(tiny, nonnegative=True) == (0.0, 0.0, 5e-324)
    assert (la.float_down(-tiny), la.float_up(-tiny)) == (-5e-324, 0.0)
    assert la.outward(huge) == (sys.float_info.max, math.inf, math.inf)
    assert (la.float_down(-huge), la.float_up(-huge)) == (-math.inf, -sys.float_info.max)
    assert la.outward(around, nonnegative=True)[0] == 0.0
    assert la.outward(around)[0] <= -1e-3
    assert la.float_up(arb("nan")) == math.inf


def test_precision_is_restored_and_threads_do_not_mix():
    before = ctx.prec
    wrong: list[int] = []

    def work(bits: int) -> None:
        for _ in range(50):
            with la.precision(bits):
                if ctx.prec != bits:
                    wrong.append(ctx.prec)

    threads = [threading.Thread(target=work, args=(100 + 10 * k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with pytest.raises(ZeroDivisionError), la.precision(500):
        _ = 1 // 0
    assert (wrong, ctx.prec) == ([], before)
