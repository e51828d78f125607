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
    ("rows", "psd"),
    [
        ([[2, 1], [1, 2]], True),
        ([[1, 1], [1, 1]], True),
        ([[1, 2], [2, 1]], False),
        ([[0, 0], [0, 1]], True),
        ([[0, 1], [1, 0]], False),  # zero pivot over a nonzero column
        ([[0, 0], [0, -1]], False),
        ([[0, 0, 0], [0, 2, 1], [0, 1, 2]], True),
        ([["1/3", "1/7"], ["1/7", "3/49"]], True),  # determinant exactly 0
        ([["1/3", "1/7"], ["1/7", "2999999999999/49000000000000"]], False),
    ],
)
def test_definiteness(rows, psd):
    assert la.is_psd(la.matrix(rows)) is psd


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
