"""Scalar steps: what is proved carries a certificate, what is refuted a witness recomputed here with fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from boundcheck.proof.exact import holds
from boundcheck.proof.scalar import consistent, decide
from boundcheck.proof.step import Context, Status
from boundcheck.proof.witness import refutes

NAMES = ["mu", "L", "x", "A", "b", "e", "beta", "j", "t", "y", "z"]
mu, L, x, A, b, e, beta, j, t, y, z = (sp.Symbol(n, real=True) for n in NAMES)
F = Fraction


def third_requirement(kappa):
    return 1 - mu * x / 2 + 2 * (L**2 - mu**2 / 4) * x**2 + kappa * L**4 * x**3 / mu <= 1 - mu * x / 3


def excess(kappa, m, el, s):
    """Left minus right side of the third requirement, in fractions."""
    return -m * s / 6 + 2 * (el**2 - m**2 / 4) * s**2 + kappa * el**4 * s**3 / m


def within(m, el, s, *, appendix):
    """s <= min(1/(2L), sqrt(m^2/(24L^4) + q) - a*m) with q = (a*m)^2 in the appendix and a^2 in the main text."""
    a = (4 * el**2 - m**2) / (16 * el**4)
    square = m**2 / (24 * el**4) + ((a * m) ** 2 if appendix else a**2)
    return s <= 1 / (2 * el) and s + a * m >= 0 and (s + a * m) ** 2 <= square


a_ = (4 * L**2 - mu**2) / (16 * L**4)
C_APP = sp.Min(1 / (2 * L), sp.sqrt(mu**2 / (24 * L**4) + (a_ * mu) ** 2) - a_ * mu)
C_MAIN = sp.Min(1 / (2 * L), sp.sqrt(mu**2 / (24 * L**4) + a_**2) - a_ * mu)
ORDER = {"mu": mu > 0, "order": mu <= L, "x": x > 0}


def point(found):
    return {name: F(text) for name, text in found.witness.items()}


def test_third_requirement_holds_with_4_by_one_product():
    found = decide(third_requirement(4), ORDER | {"C": x <= C_APP})
    assert found.status is Status.PROVED
    assert found.certificate is not None
    assert found.certificate["terms"] == [["1", [0]]]
    # the squared step condition, divided by positive factors: mu^2 >= 24 L^4 x^2 + 3 mu (4 L^2 - mu^2) x
    assert found.certificate["goal"] == "-24*L**4*x**2 - 12*L**2*mu*x + 3*mu**3*x + mu**2 >= 0"


@pytest.mark.parametrize("kappa", [sp.Integer(8), sp.Rational(4001, 1000)])
def test_third_requirement_fails_above_4(kappa):
    found = decide(third_requirement(kappa), ORDER | {"C": x <= C_APP})
    assert found.status is Status.REFUTED
    w = point(found)
    assert 0 < w["mu"] <= w["L"]
    assert w["x"] > 0
    assert within(w["mu"], w["L"], w["x"], appendix=True)
    assert excess(F(int(kappa.p), int(kappa.q)), w["mu"], w["L"], w["x"]) > 0


def test_third_requirement_fails_with_the_main_texts_constant():
    found = decide(third_requirement(4), ORDER | {"C": x <= C_MAIN})
    assert found.status is Status.REFUTED
    w = point(found)
    assert within(w["mu"], w["L"], w["x"], appendix=False)
    assert not within(w["mu"], w["L"], w["x"], appendix=True)
    assert excess(4, w["mu"], w["L"], w["x"]) > 0


def test_known_witnesses_are_accepted_and_a_harmless_point_is_not():
    near, far = {"mu": F(1, 2), "L": F(1), "x": F(9, 256)}, {"mu": F(1, 2), "L": F(1), "x": F(1, 8)}
    assert excess(8, m=F(1, 2), el=F(1), s=F(9, 256)) == F(87, 1048576)
    assert excess(4, m=F(1, 2), el=F(1), s=F(1, 8)) == F(53, 1536)
    inside = [*ORDER.values(), x <= C_APP]
    assert refutes(near, third_requirement(8), inside, frozenset())
    assert not refutes(near, third_requirement(4), inside, frozenset())
    assert not refutes(far, third_requirement(8), inside, frozenset())  # breaks the claim outside the hypotheses
    assert refutes(far, third_requirement(4), [*ORDER.values(), x <= C_MAIN], frozenset())


GEOMETRIC = {"A": A > 0, "A <=": 1 / (2 * b + 1) >= A, "b": b >= 1}


@pytest.mark.parametrize(
    "claim", [A * b / (1 - A) <= sp.Rational(1, 2), sp.Rational(3, 2) >= 1 / (1 - A)], ids=["drift", "factor"]
)
def test_quotients_by_proved_denominators(claim):
    found = decide(claim, GEOMETRIC)
    assert found.status is Status.PROVED
    assert found.how == "certificate"
    assert {p.claim for p in found.parts} >= {"2*b + 1 > 0", "1 - A > 0"}


def test_a_quotient_that_is_too_large():
    found = decide(sp.Rational(5, 4) >= 1 / (1 - A), GEOMETRIC)
    assert found.status is Status.REFUTED
    w = point(found)
    assert 0 < w["A"] <= 1 / (2 * w["b"] + 1)
    assert w["b"] >= 1
    assert 1 / (1 - w["A"]) > F(5, 4)


def test_a_denominator_of_unknown_sign_is_not_cleared():
    assert decide(x**2 / (1 - A) ** 2 >= 0, {}).status is Status.UNDECIDED
    found = decide((1 - A) ** 2 / (1 - A) ** 2 * (x / y) ** 2 >= 0, {"x": x > 0})
    assert found.status is Status.UNDECIDED
    assert "denominator y" in found.note
    assert decide((x / y) ** 2 >= 0, {"y": y < 0}).status is Status.PROVED


def test_a_wrong_quotient_is_refuted_where_it_is_defined():
    found = decide(1 / y <= 5, {"y": y <= 1})
    assert found.status is Status.REFUTED
    assert 1 / point(found)["y"] > 5


def test_step_size_product():
    facts = {"e": e > 0, "L": L > 0, "beta": beta >= 1, "eL": e * L <= 1 / (4 * beta)}
    found = decide(e / 2 - e**2 * L >= e / 4, facts)
    assert found.status is Status.PROVED
    assert found.how == "certificate"
    assert decide(e / 2 - e**2 * L >= e / 3, facts).status is Status.REFUTED


def test_pairs_on_both_sides_of_j():
    claim = j * (j - 1) + (t - j) * (t - j - 1) <= t * (t - 1)
    found = decide(claim, {"j": j >= 0, "t": j <= t})
    assert found.status is Status.PROVED
    assert found.certificate is not None
    assert found.certificate["terms"] == [["1", [0, 1]]]  # half the gap is j (t - j)
    refuted = decide(claim, {"t": j <= t})
    w = point(refuted)
    assert w["j"] * (w["j"] - 1) + (w["t"] - w["j"]) * (w["t"] - w["j"] - 1) > w["t"] * (w["t"] - 1)


def test_integers_can_prove_more_than_reals():
    claim, facts = t * (t - 1) >= 0, {"t": t >= 0}
    real = decide(claim, facts)
    assert real.status is Status.REFUTED
    assert 0 < point(real)["t"] < 1
    whole = decide(claim, facts, Context(integers=frozenset({"t"})))
    assert whole.status is Status.PROVED
    assert whole.how == "z3 and cvc5 over the integers"
    wrong = decide(t * (t - 3) >= 0, facts, Context(integers=frozenset({"t"})))
    assert point(wrong)["t"] in (1, 2)


def test_scalar_young():
    facts = {"t": t > 0}
    assert decide(2 * x * y <= t * x**2 + y**2 / t, facts).status is Status.PROVED
    wrong = decide(3 * x * y <= t * x**2 + y**2 / t, facts)
    w = point(wrong)
    assert 3 * w["x"] * w["y"] > w["t"] * w["x"] ** 2 + w["y"] ** 2 / w["t"]


def test_contradictory_hypotheses_prove_nothing():
    found = decide(x >= 5, {"x": x > 0, "below": x < -1})
    assert found.status is Status.VACUOUS
    assert consistent({"x": x > 0, "below": x < -1}) is False
    assert consistent({"x": x > 0, "below": x < 1}) is True


def test_a_root_whose_argument_may_be_negative():
    assert decide(sp.sqrt(x) >= 0, {}).status is Status.UNDECIDED
    assert decide(sp.sqrt(x) <= 1 + x, {"x": x >= 0}).status is Status.PROVED
    assert decide(sp.sqrt(x) >= x, {"x": x >= 0}).status is Status.REFUTED
    assert decide(sp.sqrt(x) >= x, {"x": x >= 0, "one": x <= 1}).status is Status.PROVED


def test_min_max_and_abs_on_either_side():
    facts = {"x": x >= 0, "y": y >= 0}
    assert decide(sp.Min(x, y) <= (x + y) / 2, facts).status is Status.PROVED
    assert decide(sp.Max(x, y) <= x + y, facts).status is Status.PROVED
    assert decide(sp.Max(x, y) >= x + y, facts).status is Status.REFUTED
    assert decide(sp.Abs(x - y) <= x + y, facts).status is Status.PROVED
    assert decide(sp.Abs(x + y) <= x - y, {}).status is Status.REFUTED
    assert decide(z <= sp.Min(x, y), {"z": z <= sp.Min(x, y) - 1}).status is Status.PROVED


def test_an_irrational_model_is_moved_to_rationals():
    found = decide(x**2 <= 2 - sp.Rational(1, 10**6), {"x": x >= 0, "square": x**2 <= 2})
    assert found.status is Status.REFUTED
    assert 2 - F(1, 10**6) < point(found)["x"] ** 2 <= 2


def test_a_counterexample_that_is_irrational_only_is_no_refutation():
    found = decide(sp.Ne(x**2, 2), {"x": x >= 0})
    assert found.status is Status.UNDECIDED
    assert "no rational one" in found.note


def test_equations_are_put_in_and_their_symbols_are_in_the_witness():
    found = decide(y <= 3, {"y": sp.Eq(y, x**2), "x": x >= 0})
    assert found.status is Status.REFUTED
    w = point(found)
    assert w["y"] == w["x"] ** 2 > 3


def test_quantities_are_at_least_zero():
    assert decide(x + y >= 0, {"x": x >= 0}, Context(frozenset({"y"}))).status is Status.PROVED
    found = decide(y >= 1, {}, Context(frozenset({"y"})))
    assert 0 <= point(found)["y"] < 1


def test_what_is_not_polynomial_is_generalised_and_never_refuted():
    f = sp.Function("f")(x)
    assert decide(f**2 + 1 > 0, {}).status is Status.PROVED
    assert decide(f >= 0, {}).status is Status.UNDECIDED


def test_a_conjunction_is_as_strong_as_its_parts():
    assert decide(sp.And(x >= 0, x <= 1), {"x": x > 0, "below": x < 1}).status is Status.PROVED
    assert decide(sp.And(x >= 0, x <= sp.Rational(1, 2)), {"x": x > 0, "below": x < 1}).status is Status.REFUTED


def test_truth_at_a_point_is_exact():
    root = sp.sqrt(2, evaluate=False)
    assert holds(x >= root, {"x": F(14142135623730950488016887242097, 10**31)}) is True
    assert holds(x >= root, {"x": F(14142135623730950488016887242096, 10**31)}) is False
    assert holds(sp.Eq(sp.sqrt(x), sp.Rational(3, 2)), {"x": F(9, 4)}) is True
    assert holds(1 / x > 0, {"x": F(0)}) is None
    assert holds(sp.sqrt(x) > 0, {"x": F(-1)}) is None
    assert holds(sp.Eq(sp.sqrt(x) ** 2 + y, 2), {"x": F(2), "y": F(0)}) is True
    assert holds(x < y, {"x": F(0)}) is None
