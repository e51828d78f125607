"""Vector steps: combinations of facts and positive semidefinite forms, and the general rules."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity, Imported
from boundcheck.proof.rules import (
    CauchySchwarz,
    Jensen,
    Limit,
    MeanValue,
    PartialSum,
    SumOver,
    Telescoping,
    Triangle,
    Young,
)
from boundcheck.proof.step import Context, Status
from boundcheck.proof.sums import closed_form, total, vector_total
from boundcheck.proof.vectors import Inner, Vector, VectorEquality, inner, norm2, vector

t, L, mu, eta, P, m, k, S, D = (sp.Symbol(n, real=True) for n in ["t", "L", "mu", "eta", "P", "m", "k", "S", "D"])
u, v, x, g = (vector(n) for n in "uvxg")
r = vector("r", m)
PROVED, UNDECIDED = Status.PROVED, Status.UNDECIDED
SUMS = Context(integers=frozenset({"P", "m", "k"}), ranges=((m, sp.Ge(m, 0)),))


def check(method, claim, facts=None, setting=SUMS):
    return method.check(claim, facts or {}, setting).status


# inner products


def test_inner_products_are_bilinear_and_symmetric():
    assert inner(u, v) == inner(v, u)
    assert sp.expand(norm2(u * 2 - v) - (4 * norm2(u) - 4 * inner(u, v) + norm2(v))) == 0
    assert norm2(u - u) == 0


def test_norms_agree_with_coordinates():
    numbers = {"u": (1, 2, -3), "v": (4, 0, 5)}
    expr = norm2(u * 3 - v / 2)
    value = expr.replace(Inner, lambda a, b: sum(p * q for p, q in zip(numbers[a.name], numbers[b.name], strict=True)))
    assert value == sum((3 * p - Fraction(q, 2)) ** 2 for p, q in zip(*numbers.values(), strict=True))


# Gram steps


def test_young_as_a_gram_step():
    claim = sp.Le(norm2(u + v), norm2(u) / (1 - t) + norm2(v) / t)
    assert check(Combine(), claim, {"a": t > 0, "b": t < 1}) is PROVED
    assert check(Combine(), claim, {"a": t > 0}) is UNDECIDED
    smaller = sp.Le(norm2(u + v), norm2(u) / (1 - t) + norm2(v) / (t + sp.Rational(1, 100)))
    assert check(Combine(), smaller, {"a": t > 0, "b": t < 1}) is UNDECIDED


# co-coercivity of the gradient of a 1-strongly convex, 10-smooth function
COERCIVE = {"co": sp.Ge(inner(g, x), sp.Rational(10, 11) * norm2(x) + norm2(g) / 11)}


def test_gradient_step_contracts_by_the_known_rate():
    after = norm2(x - g / 10)
    found = Combine().check(sp.Le(after, sp.Rational(81, 100) * norm2(x)), COERCIVE, Context())
    assert found.status is PROVED
    assert found.certificate is not None
    weight = Fraction(found.certificate["multipliers"]["co"])
    # by hand: 81/100 - 1 + 10/11 w, 1/5 - w, w/11 - 1/100 must form a positive semidefinite matrix
    a, c, d = Fraction(-19, 100) + Fraction(10, 11) * weight, Fraction(1, 5) - weight, weight / 11 - Fraction(1, 100)
    assert a >= 0
    assert d >= 0
    assert 4 * a * d >= c**2
    for rate in (sp.Rational(1, 2), sp.Rational(80, 100)):
        assert check(Combine(), sp.Le(after, rate * norm2(x)), COERCIVE, Context()) is UNDECIDED


def test_gradient_step_with_symbols_and_a_given_multiplier():
    facts = {
        "co": sp.Ge((mu + L) * inner(g, x), mu * L * norm2(x) + norm2(g)),
        "mu": mu > 0,
        "order": mu < L,
    }
    claim = sp.Le(norm2(x - g / L), (1 - mu / L) ** 2 * norm2(x))
    assert check(Combine({"co": 2 / L**2}), claim, facts, Context()) is PROVED
    assert check(Combine({"co": 1 / L**2}), claim, facts, Context()) is UNDECIDED
    assert check(Combine({"co": -2 / L**2}), claim, facts, Context()) is UNDECIDED


def test_two_facts_are_weighed_by_the_semidefinite_programme():
    facts = {"one": sp.Ge(norm2(u) - 2 * norm2(v), 0), "two": sp.Ge(norm2(v) - inner(u, v), 0)}
    assert check(Combine(), sp.Ge(norm2(u) - 2 * inner(u, v), 0), facts) is PROVED
    assert check(Combine(), sp.Ge(norm2(u) - 3 * inner(u, v), 0), facts) is UNDECIDED


def test_combination_solves_for_an_implicit_quantity():
    """From S <= D + S/2 follows S <= 2 D; S <= 3/2 D does not follow."""
    setting = Context(frozenset({"S", "D"}))
    facts = {"S": S <= D + S / 2}
    assert check(Combine(), 2 * D >= S, facts, setting) is PROVED
    assert check(Combine(), sp.Rational(3, 2) * D >= S, facts, setting) is UNDECIDED


def test_contradictory_facts_are_vacuous():
    found = Combine().check(sp.Le(norm2(u), norm2(v)), {"a": t > 0, "b": t < 0}, Context())
    assert found.status is Status.VACUOUS


def test_no_combination_beyond_linear_facts():
    assert check(Combine(), sp.Ge(norm2(u) ** 2, norm2(u) * norm2(v)), {"a": sp.Ge(norm2(u), norm2(v))}) is UNDECIDED


# rules


def test_jensen_and_what_it_needs():
    rule = Jensen((1 - t, t), (u / (1 - t), v / t))
    claim = sp.Le(norm2(u + v), norm2(u) / (1 - t) + norm2(v) / t)
    inside = {"a": t > 0, "b": t < 1}
    assert check(rule, claim, inside) is PROVED
    assert check(rule, claim, {"a": t > 0}) is UNDECIDED
    assert check(rule, sp.Le(norm2(u + v), norm2(u) / (1 - t) + norm2(v)), inside) is UNDECIDED
    thirds = (sp.Rational(1, 3),) * 3
    three = sp.Le(norm2(u + v + x), 3 * (norm2(u) + norm2(v) + norm2(x)))
    assert check(Jensen(thirds, (u * 3, v * 3, x * 3)), three) is PROVED
    quarter = (sp.Rational(1, 4),) * 3
    assert check(Jensen(quarter, (u * 4, v * 4, x * 4)), sp.Le(norm2(u + v + x), 4 * (norm2(u) + norm2(v) + norm2(x)))
                 ) is UNDECIDED  # fmt: skip


def test_young_rule():
    claim = sp.Le(2 * inner(u, v), eta * norm2(u) + norm2(v) / eta)
    assert check(Young(u, v, eta), claim, {"eta": eta > 0}) is PROVED
    assert check(Young(u, v, eta), claim, {}) is UNDECIDED
    assert check(Young(u, v, eta), sp.Le(3 * inner(u, v), eta * norm2(u) + norm2(v) / eta), {"eta": eta > 0}
                 ) is UNDECIDED  # fmt: skip


def test_triangle_rule():
    claim = sp.Le(sp.sqrt(norm2(u + v)), sp.sqrt(norm2(u)) + sp.sqrt(norm2(v)))
    assert check(Triangle(u, v), claim) is PROVED
    assert check(Triangle(u, v), sp.Le(sp.sqrt(norm2(u + v)), sp.sqrt(norm2(u)))) is UNDECIDED


def test_cauchy_schwarz_with_a_symbolic_number_of_terms():
    square = norm2(vector_total(r, m, P))
    claim = sp.Le(square, P * total(norm2(r), m, P))
    assert check(CauchySchwarz(r, m, P), claim, {"P": P >= 1}) is PROVED
    assert check(CauchySchwarz(r, m, P), claim, {}) is UNDECIDED
    assert (
        check(CauchySchwarz(r, m, P), claim, {"P": P >= 1}, Context()) is UNDECIDED
    )  # P is not known to be an integer
    assert check(CauchySchwarz(r, m, P), sp.Le(square, (P - 1) * total(norm2(r), m, P)), {"P": P >= 1}) is UNDECIDED


def test_closed_forms():
    assert [closed_form(m, m, P).subs(P, n) for n in range(6)] == [0, 0, 1, 3, 6, 10]
    assert [closed_form(m**3 - 2, m, P).subs(P, n) for n in range(4)] == [0, -2, -3, 3]
    assert sp.expand(total(m * S + D, m, P) - (S * P * (P - 1) / 2 + P * D)) == 0
    with pytest.raises(BadInput, match="depends on the index"):
        vector_total(r * m, m, P)


def test_equal_sums_are_equal_whatever_the_index_is_called():
    assert total(norm2(r), m, P) == total(norm2(r).subs(m, k), k, P)


def test_sum_of_inequalities_over_the_index():
    bound = {"step": sp.Le(norm2(r), m * S), "P": P >= 1}
    claim = sp.Le(total(norm2(r), m, P), P * (P - 1) / 2 * S)
    ranged = Context(integers=SUMS.integers, ranges=((m, sp.Ge(m, 0)), (m, sp.Le(m, P - 1))))
    assert check(SumOver("step", m, P), claim, bound, ranged) is PROVED
    assert check(SumOver("step", m, P), sp.Le(total(norm2(r), m, P), (P - 1) ** 2 / 2 * S), bound, ranged) is UNDECIDED
    late = Context(integers=SUMS.integers, ranges=((m, sp.Ge(m, 5)),))
    assert check(SumOver("step", m, P), claim, bound, late) is UNDECIDED  # known from m = 5 on only
    with pytest.raises(BadInput, match="needs the inequality"):
        check(SumOver("other", m, P), claim, bound, ranged)


def test_part_of_a_sum():
    claim = sp.Le(total(norm2(r), m, k), total(norm2(r), m, P))
    assert check(PartialSum(norm2(r), m, k, P), claim, {"k": k >= 0, "P": k <= P}) is PROVED
    assert check(PartialSum(norm2(r), m, k, P), claim, {"k": k >= 0}) is UNDECIDED
    mixed = inner(r, u)
    assert check(PartialSum(mixed, m, k, P), sp.Le(total(mixed, m, k), total(mixed, m, P)), {"k": k >= 0, "P": k <= P}
                 ) is UNDECIDED  # fmt: skip


def test_telescoping():
    position = vector("p", m)
    facts = {"step": VectorEquality(vector("p", m + 1), position + r), "P": P >= 0}
    claim = VectorEquality(vector("p", P), vector("p", 0) + vector_total(r, m, P))
    assert check(Telescoping("step", m, P), claim, facts) is PROVED
    wrong = VectorEquality(vector("p", P), vector("p", 0) + vector_total(r * 2, m, P))
    assert check(Telescoping("step", m, P), wrong, facts) is UNDECIDED
    shrinking = {"step": VectorEquality(vector("p", m + 1), position / 2 + r), "P": P >= 0}
    assert check(Telescoping("step", m, P), claim, shrinking) is UNDECIDED
    with pytest.raises(BadInput, match="not of the form"):
        check(Telescoping("step", m, P), claim, {"step": VectorEquality(vector("p", P), position + r)})


def test_mean_value_and_limit():
    f, a, s = sp.Function("f", real=True), sp.Symbol("a", real=True), sp.Symbol("s", real=True)
    facts = {"rise": sp.Ge(sp.diff(f(s), s), 3), "a": a < 1}
    claim = sp.Ge(f(1) - f(a), 3 * (1 - a))
    ranges = Context(ranges=((s, sp.Ge(s, a)), (s, sp.Le(s, 1))))
    assert check(MeanValue(f(s), s, sp.Integer(3), a, "rise"), claim, facts, ranges) is PROVED
    assert check(MeanValue(f(s), s, sp.Integer(3), a, "rise"), sp.Ge(f(1) - f(a), 4 * (1 - a)), facts, ranges
                 ) is UNDECIDED  # fmt: skip
    x2 = sp.Symbol("x2", real=True)
    narrow = Context(ranges=((s, sp.Ge(s, a + 1)),))
    assert check(MeanValue(f(s), s, sp.Integer(3), a, "rise"), claim, facts, narrow) is UNDECIDED
    pole = {"rise": sp.Ge(sp.diff(f(s) / s, s), 3), "a": a < 1}
    assert check(MeanValue(f(s) / s, s, sp.Integer(3), a, "rise"), sp.Ge(f(1) - f(a) / a, 3 * (1 - a)), pole, ranges
                 ) is UNDECIDED  # fmt: skip
    assert check(Limit("bound", a), sp.Ge(x2, 3), {"bound": sp.Ge(x2, 3 * (1 - a))},
                 Context(ranges=((a, a > 0), (a, a < 1)))) is PROVED  # fmt: skip
    with pytest.raises(BadInput, match="not a polynomial"):
        check(Limit("bound", a), sp.Ge(x2, 3), {"bound": sp.Ge(x2, f(a))}, Context(ranges=((a, a > 0), (a, a < 1))))


# identities


def test_identities():
    s = sp.Symbol("s", real=True)
    quotient = (1 - s + 4 * s**2) / (1 - s / 2)
    right = 1 - s / 2 + sp.Rational(15, 4) * s**2 / (1 - s / 2)
    assert check(Identity(), sp.Eq(quotient, right), {"s": s < 2}) is PROVED
    assert check(Identity(), sp.Eq(quotient, right), {}) is UNDECIDED  # the denominator may vanish
    assert check(Identity(), sp.Eq(quotient, right + s), {"s": s < 2}) is Status.REFUTED


def test_vector_identity_after_substitution():
    facts = {"def": VectorEquality(u, v * 2 - x), "s": sp.Eq(t, 2 * eta)}
    assert check(Identity(), VectorEquality(u + x, v * t / eta), facts | {"eta": eta > 0}) is PROVED
    assert check(Identity(), VectorEquality(u + x, v * 3), facts) is UNDECIDED


def test_cited_results_are_assumed_and_vectors_need_a_left_atom():
    assert check(Imported("K. L. Chung, 1954, Lemma 1"), t > 0) is Status.ASSUMED
    with pytest.raises(BadInput, match="single atom"):
        check(Combine(), sp.Ge(norm2(u), 0), {"bad": VectorEquality(u + v, x)})
    assert check(Decide(), t >= 0, {"t": t > 0, "vectors": VectorEquality(u, v)}) is PROVED
    assert Vector(()).terms == ()


# constants


@pytest.mark.parametrize(
    ("claim", "facts", "holds"),
    [
        (norm2(u) >= 0, {}, True),
        (norm2(u) >= 3, {}, False),
        (norm2(u) >= -3, {}, True),
        (norm2(u) <= 2, {"a": norm2(u) <= 2}, True),
        (norm2(u) <= 2, {"a": norm2(u) <= 3}, False),
        (norm2(u) <= 7, {"a": norm2(u) <= 3, "b": norm2(v) >= 5}, True),
        (norm2(u) + 4 <= norm2(v), {"a": norm2(u) + 5 <= norm2(v)}, True),
        (norm2(u) + 6 <= norm2(v), {"a": norm2(u) + 5 <= norm2(v)}, False),
        (2 * inner(u, v) <= 10, {"a": norm2(u) <= 4, "b": norm2(v) <= 6}, True),
        (2 * inner(u, v) <= 9, {"a": norm2(u) <= 4, "b": norm2(v) <= 6}, False),
        (t * norm2(u) <= 3 * t - 2, {"a": norm2(u) <= 2, "t": t >= 2}, True),
        (t * norm2(u) <= 3 * t - 2, {"a": norm2(u) <= 2, "t": t >= 1}, False),
        ((norm2(u) + 3) / t <= 2, {"a": norm2(u) <= 5, "t": t >= 4}, True),
        ((norm2(u) + 3) / t <= 2, {"a": norm2(u) <= 5, "t": t >= 3}, False),
        (3 * (norm2(u) + 2) * t <= 21 * t, {"a": norm2(u) <= 5, "t": t > 0}, True),
        (3 * (norm2(u) + 2) * t <= 20 * t, {"a": norm2(u) <= 5, "t": t > 0}, False),
    ],
    ids=str,
)
def test_constants_count(claim, facts, holds):
    """Constants on both sides of claim and facts, numbers and multiples of a symbol, none of them 1."""
    hints = [{k: sp.sympify(factor) for k in facts if k != "t"} for factor in (1, 2, t, 1 / t)]
    ways = [Combine(), *(Combine(given) for given in hints)] if facts else [Combine()]
    found = [way.check(claim, facts, Context()).status for way in ways]
    assert set(found) <= {PROVED, UNDECIDED}
    assert (PROVED in found) is holds


@pytest.mark.parametrize(("bound", "holds"), [(8, True), (sp.Rational(79, 10), False), (5, False)])
def test_constants_of_what_is_linear_only_when_it_is_divided_out(bound, holds):
    """(q^2 - 9)/(q - 3) = q + 3, whose coefficients are found by derivatives."""
    q = norm2(u)
    claim = sp.Le((q**2 - 9) / (q - 3), bound, evaluate=False)
    for way in (Combine(), Combine({"a": 1})):
        assert way.check(claim, {"a": q <= 5}, Context()).status is (PROVED if holds else UNDECIDED)
    fact = sp.Le((q**2 - 9) / (q - 3), 8, evaluate=False)
    assert Combine({"a": 1}).check(q <= bound - 3, {"a": fact}, Context()).status is (PROVED if holds else UNDECIDED)
