"""The largest value in scope: exact roots, rounded ones, integers, gaps, empty and unlimited sets; best values."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy as sp
from formulas import formula, number

from boundcheck.errors import BadInput
from boundcheck.theory.discovery import statement
from boundcheck.theory.largest import NothingAllowed
from boundcheck.theory.statement import Statement
from boundcheck.theory.symbols import Symbol

NUMBER, WHOLE = number("a"), number("a", integer=True)
a, b = NUMBER.expr, sp.Symbol("b", real=True)


def only(*relations: sp.Basic, symbol: Symbol = NUMBER) -> Statement:
    """Conditions in `a` and, where used, `b`."""
    return formula(sum({a}.union(*(r.free_symbols for r in relations)), sp.Integer(1)), *relations, symbols=(symbol,))


def test_a_rational_edge_is_returned_exactly() -> None:
    s = statement("scgd/theorem_3_3/as_printed_main")
    found = s.largest("eta", mu="1/100", L="1/10", n=2, E=64)
    assert found == Fraction(10, 256)
    assert s.scope(mu="1/100", L="1/10", n=2, E=64, eta=found).conditions[0].exact == 0


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, "7/3", 20, 4), ("1/1000", 5, 3, 7)])
@pytest.mark.parametrize("reading", ["corrected", "conservative"])
def test_an_irrational_edge_is_rounded_down_into_scope(shape: tuple, reading: str) -> None:
    values = dict(zip(("mu", "L", "n", "E"), shape, strict=True))
    s = statement(f"scgd/theorem_3_3/{reading}")
    found = s.largest("eta", **values)
    assert s.scope(**values, eta=found).in_scope is True
    assert s.scope(**values, eta=found * (1 + Fraction(1, 10**12))).in_scope is False


def test_integer_symbols_and_other_symbols() -> None:
    s = statement("scgd/theorem_3_3")
    values = {"mu": 1, "L": 1, "n": 2, "eta": "1/1000"}
    E = s.largest("E", **values)  # 0.0896695/(2/1000) = 44.8
    assert E == 44
    assert s.scope(**values, E=45).in_scope is False
    assert s.largest("mu", L=1, n=1, E=1, eta="1/100") == 1  # the domain mu <= L binds
    L = s.largest("L", mu=1, n=1, E=1, eta="1/100")
    assert s.scope(mu=1, L=L, n=1, E=1, eta="1/100").in_scope is True
    assert s.scope(mu=1, L=L * (1 + Fraction(1, 10**11)), n=1, E=1, eta="1/100").in_scope is False
    # a value given for the symbol itself is not used
    assert s.largest("E", **values, E=7) == 44


def test_a_constant_that_is_negative_leaves_nothing() -> None:
    with pytest.raises(NothingAllowed, match="no positive eta satisfies condition 'step size'"):
        statement("scgd/theorem_3_3/as_printed_main").largest("eta", mu=2, L=10, n=2, E=4)


def test_no_upper_limit_is_said() -> None:
    with pytest.raises(BadInput, match="limits eta0 from above"):
        statement("scgd/theorem_3_4").largest("eta0", mu=1, L=2, n=2, E=1)
    with pytest.raises(BadInput, match="limits sigma2 from above"):
        statement("scgd/theorem_3_3").largest("sigma2", mu=1, L=1, n=1, E=1, eta="1/100")
    assert only(sp.Ge(a, 2), symbol=number("a", high=Fraction(7))).largest("a") == 7


def test_appendix_c_windows() -> None:
    """E = 2: |m| < 1 iff eta < 1/11 (strict); E = 3: a second window ends at 0.680676."""
    s = statement("scgd/example_app_c_fedavg_converges")
    assert 0 < Fraction(1, 11) - s.largest("eta", E=2) < Fraction(1, 10**12)
    assert float(s.largest("eta", E=3)) == pytest.approx(0.680676, abs=1e-6)
    assert float(s.largest("eta", E=5)) == pytest.approx(0.5844749, abs=1e-7)
    assert 0 < 3 - s.largest("eta", E=1) < Fraction(1, 10**11)


@pytest.mark.parametrize(
    ("relations", "expected"),
    [
        ((sp.Le((a - 1) * (a - 2) * (a - 3), 0),), Fraction(3)),
        ((sp.Le(a**2, 2), sp.Ne(a, 1)), None),
        ((sp.Le(sp.Abs(a), 3), sp.Ge(a**2, 1)), Fraction(3)),
        ((sp.Le(sp.Max(a, 2 * a - 1), 5),), Fraction(3)),
        ((sp.Le(sp.sqrt(a), 3), sp.Ge(a, 0)), Fraction(9)),
        ((sp.Le(sp.sqrt(a + 1) + sp.sqrt(a), 3),), Fraction(16, 9)),
        ((sp.Ge(1 / a, 2), sp.Gt(a, 0)), Fraction(1, 2)),
        ((sp.Eq(a**2, 4),), Fraction(2)),
        ((sp.Le(a + sp.Min(a, 1), 5),), Fraction(4)),
        ((sp.Le(a, -3),), Fraction(-3)),
    ],
)
def test_other_forms_of_conditions(relations: tuple, expected: Fraction | None) -> None:
    s = only(*relations)
    found = s.largest("a")
    if expected is None:
        assert 0 < 2 - found**2 < Fraction(1, 10**11)
    else:
        assert found == expected
    assert s.scope(a=found).in_scope is True


def test_strict_edges_are_approached_and_empty_ones_refused() -> None:
    found = only(sp.Lt(a, 2)).largest("a")
    assert 0 < 2 - found <= Fraction(2, 10**12)
    assert only(sp.Lt(a, 0)).largest("a") < 0
    with pytest.raises(NothingAllowed):
        only(sp.Lt(a**2 - a + 1, 0)).largest("a")
    with pytest.raises(NothingAllowed, match="c0"):
        only(sp.Le(b, 0), sp.Le(a, 1)).largest("a", b=1)
    assert only(sp.Lt(a, 2), symbol=WHOLE).largest("a") == 1
    assert only(sp.Le(a**2, 8), symbol=WHOLE).largest("a") == 2
    with pytest.raises(NothingAllowed):
        only(sp.Ge(a, sp.Rational(1, 3)), sp.Le(a, sp.Rational(2, 3)), symbol=WHOLE).largest("a")


def test_a_logarithm_in_the_coefficient_is_no_obstacle() -> None:
    s = statement("scgd/choice_of_e")
    values = {"mu": 1, "L": 1, "n": 2, "E": 3, "T": 1000}
    found = s.largest("ell", **values)
    assert float(found) == pytest.approx((math.sqrt(177) - 9) / 48 * 1000 / math.log(1000) / 6, rel=1e-12)
    assert s.scope(**values, ell=found).in_scope is True


def test_n_divides_T() -> None:
    """n E ell log(T)/T <= 0.0896695 leaves n <= 43 at E ell = 0.3, T = 1000."""
    s = statement("scgd/choice_of_e")
    values = {"mu": 1, "L": 1, "E": 3, "ell": "1/10"}
    assert s.largest("n", **values, T=1000) == 40
    assert s.largest("n", **values, T=997) == 1  # a prime
    assert s.largest("n", **values, T=1290) == 43  # the limit is 54.01, and 1290 = 2 * 3 * 5 * 43
    with pytest.raises(NothingAllowed, match="'whole cycles'"):
        s.largest("ell", mu=1, L=1, E=3, n=3, T=1000)


@pytest.mark.parametrize(
    ("relations", "expected"),
    [
        ((sp.Eq(sp.floor(a / 7), a / 7), sp.Le(a, 100)), 98),
        ((sp.Eq(a / 7, sp.floor(a / 7)), sp.Lt(a, 98)), 91),
        ((sp.Eq(sp.ceiling((3 * a + 1) / 10), (3 * a + 1) / 10), sp.Le(a**2, 2000)), 43),  # 3a = 9 mod 10
        ((sp.Eq(sp.floor(60 / a), 60 / a), sp.Le(a**2, 200)), 12),
        ((sp.Eq(sp.floor(60 / a), 60 / a),), 60),
        ((sp.Eq(sp.floor(a / 4), a / 4), sp.Le(a, -1)), -4),
    ],
)
def test_whole_numbers(relations: tuple, expected: int) -> None:
    s = only(*relations, symbol=WHOLE)
    assert s.largest("a") == expected
    assert s.scope(a=expected).in_scope is True


def test_whole_numbers_that_do_not_exist_or_are_not_solved() -> None:
    with pytest.raises(NothingAllowed):  # 2a + 1 is odd
        only(sp.Eq(sp.floor((2 * a + 1) / 4), (2 * a + 1) / 4), symbol=WHOLE).largest("a")
    with pytest.raises(BadInput, match="limits a from above"):
        only(sp.Eq(sp.floor(a / 7), a / 7), symbol=WHOLE).largest("a")
    with pytest.raises(BadInput, match="not solved for"):
        only(sp.Eq(sp.floor(a**2 / 7), a**2 / 7), symbol=WHOLE).largest("a")
    with pytest.raises(BadInput, match="two conditions"):
        only(sp.Eq(sp.floor(a / 7), a / 7), sp.Eq(sp.floor(a / 3), a / 3), symbol=WHOLE).largest("a")
    with pytest.raises(BadInput, match="algebraically"):  # a real number
        only(sp.Eq(sp.floor(a / 7), a / 7)).largest("a")


def test_best_step_of_theorem_3_4_is_nine_over_mu() -> None:
    found = statement("scgd/theorem_3_4").best("eta0", mu="1/2", L=3, n=3, E=2, sigma2=5)
    assert float(found) == pytest.approx(3, rel=1e-5)


def test_best_is_the_edge_where_the_bound_falls_up_to_it() -> None:
    s = statement("scgd/theorem_3_3")
    values = {"mu": 1, "L": 1, "n": 2, "E": 3, "sigma2": 0, "dist2_0": 1, "K": 100}
    found = s.best("eta", **values)
    assert s.scope(**values, eta=found).in_scope is True
    edge = s.largest("eta", mu=1, L=1, n=2, E=3)
    assert float(found) == pytest.approx(float(edge), rel=1e-9)


def test_best_within_the_scope_beats_a_grid() -> None:
    s = statement("scgd/theorem_3_3")
    values = {"mu": 1, "L": 2, "n": 2, "sigma2": 1, "dist2_0": 1, "K": 10000, "E": 2}
    least = s.evaluate(**values, eta=s.best("eta", **values))
    assert least.in_scope is True
    others = s.evaluate(**values, eta=[Fraction(step, 20000) for step in range(1, 60)])
    assert others.in_scope.any()
    assert least.value <= min(others.value[others.in_scope]) * (1 + 1e-6)


def test_best_refuses_what_it_cannot_answer() -> None:
    values = {"mu": 1, "L": 1, "n": 2, "sigma2": 1, "dist2_0": 1}
    with pytest.raises(BadInput, match="keeps falling as that grows"):
        statement("scgd/epsilon_rate").best("T", **values, E=6, ell=1)
    with pytest.raises(BadInput, match="does not depend on T"):
        statement("scgd/epsilon_complexity").best("T", **values, E=6, ell=1, eps="1/10")
    with pytest.raises(NothingAllowed):
        statement("scgd/theorem_3_3/as_printed_main").best("eta", mu=2, L=10, n=2, E=4, sigma2=1, dist2_0=1, K=1)
    with pytest.raises(BadInput, match="no least value"):
        only(sp.Le(a, 1)).best("a")
