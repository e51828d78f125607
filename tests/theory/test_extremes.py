"""Arrays where plain floats overflow, underflow or tie: values, scope and vacuousness stay those of exact numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import formulas
import numpy as np
import pytest
import sympy as sp
from formulas import number

from boundcheck.theory import arrays, walk
from boundcheck.theory.decide import Point
from boundcheck.theory.discovery import statement
from boundcheck.theory.program import compile_expression

SYMBOLS = tuple(number(n, low=Fraction(0), low_open=True) for n in "abc")
a, b, c = (s.expr for s in SYMBOLS)
formula = partial(formulas.formula, symbols=SYMBOLS)


@pytest.mark.parametrize("exponent", [-3000, -400, -300, -155, 155, 300, 400, 3000])
def test_other_units_of_the_objective_change_nothing(exponent: int) -> None:
    """f times u: mu, L times u, eta over u, sigma2 times u^2 leave Theorem 3.3's bound and scope as they are."""
    s = statement("scgd/theorem_3_3")
    unit = Fraction(10) ** exponent
    etas = [Fraction(1, 100), Fraction(1, 50), Fraction(1, 10), Fraction(40)]
    K = [[0], [3], [1001]]

    def at(u: Fraction) -> tuple:
        found = s.evaluate(
            mu=[u], L=u, n=2, E=3, eta=np.array([e / u for e in etas]), sigma2=u * u, dist2_0=4, K=np.array(K)
        )
        return found.value, found.in_scope.tolist(), found.vacuous.tolist()

    value, in_scope, vacuous = at(unit)
    expected, scope_here, vacuous_here = at(Fraction(1))
    assert value == pytest.approx(expected, rel=1e-12)
    assert expected[2, 3] == -math.inf  # (1 - 80)^1001
    assert in_scope == scope_here == [[True, False, False, False]] * 3
    assert vacuous == vacuous_here
    # at K = 3: 3.765 + 0.0432, 3.539 + 0.1728, 2.048 + 4.32, a negative number; at K = 1001 the floors, and -inf
    assert vacuous == [[True] * 4, [False, False, True, False], [False, False, True, False]]


def test_values_beyond_the_doubles_alone_are_infinite() -> None:
    big = formula(a**4 / b**3)
    assert big.evaluate(a=[1e200, 1e-200, 1.0], b=[1e200, 1e-200, 1e-110]).value.tolist() == pytest.approx(
        [1e200, 1e-200, math.inf], rel=1e-12
    )
    product = formula(a * b * c).evaluate(a=[1e-160, 1e300], b=[1e-160, 1e300], c=[1e300, 1e-300]).value
    assert product.tolist() == pytest.approx([1e-20, 1e300], rel=1e-14)
    top = float(np.finfo(float).max)
    assert formula(a**2 / b - c).evaluate(a=[top], b=[top], c=[1.0]).value.tolist() == [top]


def test_only_points_without_a_real_value_are_nan_and_they_are_told() -> None:
    found = formula(1 / (a - 1), trivial=b).evaluate(a=[1.0, 2.0, 1 + 2.0**-52], b=[2.0, 2.0, 2.0])
    assert np.isnan(found.value).tolist() == [True, False, False]
    assert found.vacuous.tolist() == [False, False, True]
    assert "1 points" in found.note
    assert formula(sp.sqrt(a - b)).evaluate(a=[1e-320, 1.0], b=[1e-320, 2.0]).note


def test_a_power_that_underflows_before_a_large_factor() -> None:
    found = formula(a**b * c).evaluate(a=0.5, b=[2000.0, 1100.0, 3.0], c=[2.0**1000, 2.0**100, 8.0])
    assert found.value.tolist() == [2.0**-1000, 2.0**-1000, 1.0]
    tiny = formula(a**b * c + a).evaluate(a=0.5, b=[2000.0], c=[4.0])  # nothing is lost here
    assert tiny.value.tolist() == [0.5]


def test_vacuous_is_exact_at_the_tie() -> None:
    """After one cycle floor = 4 c is where the bound equals its trivial value (see test_evaluation)."""
    s = statement("scgd/theorem_3_3")
    point = {"mu": 1, "L": 1, "n": 2, "E": 3, "eta": "1/100", "dist2_0": 4, "K": 1}
    edge = Fraction(8, 100) / Fraction(432, 10000)
    near = [edge - Fraction(1, 10**30), edge, edge + Fraction(1, 10**30)]
    assert s.evaluate(**point, sigma2=near).vacuous.tolist() == [False, True, True]
    floats = float(edge) + np.arange(-20, 21) * math.ulp(float(edge))
    expected = [Fraction(v) >= edge for v in floats]
    assert s.evaluate(**point, sigma2=floats).vacuous.tolist() == expected
    assert True in expected
    assert False in expected


def test_vacuous_of_long_runs_against_single_points() -> None:
    s = statement("scgd/theorem_3_3")
    rng = np.random.default_rng(3)
    K = np.floor(10 ** rng.uniform(0, 14, 60))
    eta = 10 ** rng.uniform(-12, 1, 60)
    values = {"mu": 0.3, "L": 1.7, "n": 2, "E": 3, "sigma2": 0.01, "dist2_0": 0.5}
    found = s.evaluate(**values, eta=eta, K=K)
    for i in range(60):
        one = s.evaluate(**values, eta=eta[i], K=K[i])
        assert found.vacuous[i] == one.vacuous
        assert found.in_scope[i] == one.in_scope
        assert not math.isnan(found.value[i])
        assert math.isinf(found.value[i]) == math.isinf(one.value)
    assert 5 < np.count_nonzero(found.vacuous) < 55


def test_the_mask_with_powers_that_leave_the_floats() -> None:
    s = formula(a + b, sp.Le(a**b, b**a), sp.Lt((1 - a / 100) ** b * 3, a**b))
    rng = np.random.default_rng(7)
    xs = np.concatenate([rng.uniform(0.01, 900, 40), np.array([2.0, 4.0, 3.0, 1.0])])
    ys = np.concatenate([np.floor(rng.uniform(1, 900, 40)), np.array([4.0, 2.0, 3.0, 1.0])])
    found = s.evaluate(a=xs, b=ys).in_scope.tolist()
    assert found == [s.scope(a=x, b=y).in_scope is True for x, y in zip(xs, ys, strict=True)]
    assert True in found
    assert False in found


def test_few_points_are_decided_exactly_where_a_power_may_underflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """FedShuffle's Theorem 5.1 divides by 1 - q^R, for which the ranges of the symbols show no safe exponents."""
    s = statement("fedshuffle/theorem_5_1_strongly_convex/corrected")
    rng = np.random.default_rng(5)
    values = {name: 10 ** rng.uniform(-3, 1, 300) for name in ("G2", "P2", "eta_l", "sigma2", "mu", "dist2_0", "M")}
    values |= {"L": 10 + values["mu"], "R": np.floor(10 ** rng.uniform(0, 3, 300))}
    fixed = {"E": 3, "eta_g": 1, "B2": 1, "gap_0": 1}
    decided: list[object] = []
    holds = arrays.holds
    monkeypatch.setattr(arrays, "holds", lambda *given: decided.append(given) or holds(*given))
    found = s.evaluate(**values, **fixed)
    assert len(decided) < 20  # those whose power has underflowed, and the conditions on constants
    for i in range(0, 300, 7):
        one = s.evaluate(**{name: float(array[i]) for name, array in values.items()}, **fixed)
        assert (found.in_scope[i], found.vacuous[i]) == (one.in_scope, one.vacuous)
        assert found.value[i] == pytest.approx(one.value, rel=1e-6)
    assert 20 < np.count_nonzero(found.vacuous) < 280


def test_a_jump_of_floor_is_decided_at_the_exact_value() -> None:
    third = formula(sp.floor(3 * a) + b)
    found = third.evaluate(a=[Fraction(1, 3), 1 / 3, Fraction(2, 3), 0.5], b=1)
    assert found.value.tolist() == [2.0, 1.0, 3.0, 2.0]


def test_a_scalar_that_no_float_holds() -> None:
    s = formula(a + b, sp.Le(a, b * c))
    found = s.evaluate(a=[1e-300, 1e-320], b=10, c="1e-321")
    assert found.in_scope.tolist() == [False, True]  # the float nearest to 1e-320 is below it
    assert Fraction(1e-320) <= Fraction(1, 10**320)


@pytest.mark.parametrize("exponent", [400, -400])
def test_a_constant_that_no_float_holds(exponent: int) -> None:
    s = formula(a * sp.Integer(10) ** exponent * b, sp.Le(a * sp.Integer(10) ** exponent, b))
    found = s.evaluate(a=[Fraction(10) ** -exponent, Fraction(10) ** (1 - exponent)], b=2.0)
    assert found.value.tolist() == [2.0, 20.0]
    assert found.in_scope.tolist() == [True, False]


def test_a_power_inside_max_that_vanishes() -> None:
    s = formula(sp.Max(a**b, c) + a**b, sp.Le(sp.Max(a**b, c), c), sp.Lt(sp.exp(-b) * 2, a**b))
    b_values = [1.0, 900.0, 1000.0, 5000.0]
    found = s.evaluate(a=0.5, b=b_values, c=2.0**-1000)
    assert found.value.tolist() == [1.0, 2.0**-899, 2.0**-999, 2.0**-1000]
    assert found.in_scope.tolist() == [s.scope(a=0.5, b=v, c=2.0**-1000).in_scope is True for v in b_values]


def test_names_of_symbols_are_no_code() -> None:
    root, least, *rest = (number(n).expr for n in ("sqrt", "minimum", "x0", "lambda", "a b"))
    bound = sp.Min(root, least) + sp.sqrt(sp.Abs(rest[0])) * rest[1] - rest[2] ** 3
    found = formula(bound).evaluate(**{"sqrt": [3.0, 5.0], "minimum": 4.0, "x0": [4.0, 9.0], "lambda": 2.0, "a b": 1.0})
    assert found.value.tolist() == [6.0, 9.0]


def errors(
    expr: sp.Expr, floats: dict[str, np.ndarray], *, inexact: set[str], by_point: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The values of an expression in floats, and their error bounds."""
    program, count = compile_expression(expr), len(floats["a"])
    integers = {name for name, array in floats.items() if name not in inexact and (array == np.rint(array)).all()}
    values, whole = {program.root: np.empty(count)}, walk.whole_nodes(program.nodes, integers)
    numbers, steps = walk.order_of(program.nodes, (program.root,), floats.keys())
    with np.errstate(all="ignore"):
        before = walk.Walk(program.nodes, whole, numbers, {}, set())
        found = walk.Walk(program.nodes, whole, steps, floats, inexact, before, values, by_point=by_point)
        return values[program.root], np.broadcast_to(found.error(program.root), count)


@pytest.mark.parametrize(
    "expr",
    [
        (1 - a * b / 3) ** c * a + 12 * a**2,
        sp.sqrt(a**2 / (b + 1) + (a - b) ** 2) - a * b,
        sp.Max(a, 1 - b) / (1 + c) - sp.Min(a, b, c),
        sp.Abs(a - b) ** sp.Rational(3, 2) * sp.exp(-c) + sp.log(1 + a),
        (a - 2) ** 3 * (b - 1) ** 2 / (c + sp.pi),
        a**b - b ** (a - 1),
        (a / 3 + sp.Rational(1, 7)) ** 20 - sp.cbrt(a * c) / (a - b) ** 2,
        sp.floor(a / b) - sp.ceiling(7 * c) * sp.Rational(1, 3),
        sp.sqrt(a + b) - sp.sqrt(a + b - c / 10**9),
        a * b * c / (a**2 * b**2 * c**2) ** 4,
    ],
)
@pytest.mark.parametrize("spread", [0.5, 3, 60])
def test_the_error_of_a_float_is_within_its_bound(
    expr: sp.Expr, spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One bound for all points, of several blocks, and one for each point; the inputs are rounded."""
    rng = np.random.default_rng(1)
    exact = [{n: Fraction(float(10 ** rng.uniform(-spread, spread))) / 3 for n in "abc"} for _ in range(30)]
    floats = {n: np.array([float(at[n]) for at in exact]) for n in "abc"}
    for by_point in (False, True):
        monkeypatch.setattr(walk, "BLOCK", 64 if by_point else 8)
        found, bounds = errors(expr, floats, inexact=set("abc"), by_point=by_point)
        for value, bound, at in zip(found, bounds, exact, strict=True):
            if math.isfinite(bound):
                assert all(abs(Fraction(value) - end) <= Fraction(bound) for end in Point(expr, at).enclose(128))
        assert np.isfinite(bounds).any() or spread > 1 or not by_point


@pytest.mark.parametrize(
    ("expr", "point"),
    [
        (a - b + c, (0.1, 0.3, 0.2)),  # what is left is rounding
        (a / b, (1e-300, 1e300, 1.0)),  # underflows to 0
        (a**2 + b, (2.0**27 + 1, 1.0, 1.0)),  # a whole number beyond 2^53
        (a * b, (1e-200, 1e-200, 1.0)),
        (sp.exp(-a), (800.0, 1.0, 1.0)),
    ],
)
def test_the_error_at_one_point(expr: sp.Expr, point: tuple[float, ...]) -> None:
    floats = {n: np.array([v]) for n, v in zip("abc", point, strict=True)}
    for by_point in (False, True):
        (value,), (bound,) = errors(expr, floats, inexact=set(), by_point=by_point)
        ends = Point(expr, {n: Fraction(v[0]) for n, v in floats.items()}).enclose(128)
        assert Fraction(value) not in ends
        assert all(abs(Fraction(value) - end) <= Fraction(bound) for end in ends)


def test_a_negative_number_to_a_power_that_floats_take_for_whole() -> None:
    floats = {"a": np.array([3.0]), "c": np.array([1 / 3])}  # 3 * (1/3) is 1 in floats
    (value,), (bound,) = errors((1 - a) ** (3 * c), floats, inexact=set(), by_point=True)
    assert value == -2
    assert not math.isfinite(bound)
