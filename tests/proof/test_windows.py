"""Sums shifted and exchanged, by enumeration; and attempts to have more proved than that."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from attack_tools import attempt, last, step

from boundcheck.errors import BadInput
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import At, Exchange, Shift
from boundcheck.proof.step import Fact, Status
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import norm2, vector

m, r, N, T, i = sp.symbols("m r N T i", real=True)
a: Any = sp.Function("a", real=True)
COUNTS = (Fact("N", N >= 0, "count", ""), Fact("T", T >= 0, "count", ""))
INDICES = (Fact("m", sp.And(m >= 0, m <= N - 1), "index", ""), Fact("r", sp.And(r >= 0, r <= T - 1), "index", ""))
VALUES = {-3: 4, -2: Fraction(1, 3), -1: -2, 0: 5, 1: -7, 2: Fraction(2, 5), 3: 11, 4: 0, 5: -1}


def value(expr: Any, **numbers: int) -> Any:
    """The expression with numbers for N and T, its sums added up, and the values of a."""
    here = expr.xreplace({sp.Symbol(k, real=True): sp.Integer(v) for k, v in numbers.items()})
    while here.has(sp.Sum):
        inner = next(e for e in here.atoms(sp.Sum) if not e.function.has(sp.Sum))
        here = here.xreplace({inner: added(inner)})
    return here.replace(lambda e: isinstance(e, a), lambda e: sp.Rational(VALUES[int(e.args[0])]))


def added(one: Any) -> Any:
    """A sum of sums, the outermost last among the limits."""
    *inner, (index, low, high) = one.limits
    term = sp.Sum(one.function, *inner) if inner else one.function
    return sum((term.xreplace({index: sp.Integer(k)}) for k in range(int(low), int(high) + 1)), sp.Integer(0))


@pytest.mark.parametrize("rounds", [0, 1, 2, 4])
def test_shift_is_an_identity(rounds: int) -> None:
    for term in (a(m), a(m - 2), a(m) * m):
        claim = Shift(term, m, N).instance({})
        assert value(claim.lhs - claim.rhs, N=rounds) == 0
    claim = Shift(a(m), m, N).instance({})
    wrong = claim.rhs - a(0) + a(1)  # the first term that is left out is a(0)
    assert value(wrong - claim.lhs, N=2) != 0


@pytest.mark.parametrize(("rounds", "delay"), [(0, 3), (3, 0), (1, 1), (2, 3), (3, 2)])
def test_exchange_is_an_identity(rounds: int, delay: int) -> None:
    claim = Exchange(a(m - r), m, N, r, T).instance({})
    assert value(claim.lhs - claim.rhs, N=rounds, T=delay) == 0


def test_they_prove_what_they_say_and_nothing_else() -> None:
    shift, exchange = Shift(a(m), m, N), Exchange(a(m - r), m, N, r, T)
    for rule in (shift, exchange):
        claim = rule.instance({})
        for wanted, status in (
            (claim, Status.PROVED),
            (sp.Le(claim.lhs, claim.rhs - 1, evaluate=False), Status.UNDECIDED),
        ):
            proof = attempt((*COUNTS, *INDICES), (step("it", wanted, ("N", "T"), rule),))
            assert proof.check_step("it").status is status


@pytest.mark.parametrize(
    ("rule", "other"),
    [
        (Shift(a(m), m, N), total(a(m + 1), m, N) + a(0) - a(N - 1)),
        (Shift(a(m), m, N), total(a(m + 1), m, N) + a(1) - a(N)),
        (Shift(a(m), m, N), total(a(m + 1), m, N)),
        (Exchange(a(m - r), m, N, r, T), total(total(a(m - r), m, T), r, N)),
    ],
)
def test_off_by_one_is_not_proved(rule: Any, other: Any) -> None:
    claim = sp.Le(rule.instance({}).lhs, other, evaluate=False)
    last((*COUNTS, *INDICES), (step("it", claim, ("N", "T"), rule),))


def test_counts_must_be_integers_that_are_not_negative() -> None:
    x = sp.Symbol("eta", real=True)
    shifts = (Shift(a(m), m, x), Shift(a(m), m, N - 1))
    for rule in (*shifts, Exchange(a(m - r), m, N, r, x), Exchange(a(m - r), m, N - 1, r, T)):
        last((*COUNTS, *INDICES), (step("it", rule.instance({}), ("N", "T", "domain eta"), rule),))


def test_a_sum_over_a_triangle_is_not_exchanged() -> None:
    """The number of terms of the one sum must not depend on the index of the other."""
    for rule in (Exchange(a(m - r), m, N, r, m), Exchange(a(m - r), m, r, r, T), Exchange(a(m), m, N, m, T)):
        with pytest.raises(BadInput):
            rule.instance({})
    with pytest.raises(BadInput):
        Shift(a(m), m, m).instance({})


# one value of an index


def one_value(value: Any, claim: Any, uses: tuple[str, ...] = ("all", "N", "T", "r")) -> Status:
    """What is found of a claim about a(value), from a(m) <= a(m + 1) for all m below N."""
    facts = (*COUNTS, *INDICES, Fact("all", sp.Le(a(m), a(m + 1), evaluate=False), "metric", ""))
    return attempt(facts, (step("it", claim, uses, At("all", m, value)),)).check_step("it").status


def test_what_holds_for_all_values_holds_for_one() -> None:
    facts = ("all", "N", "T", "r", "domain n")
    assert one_value(N - 1, sp.Le(a(N - 1), a(N), evaluate=False), facts) is not Status.PROVED  # N may be 0
    many = (Fact("N", N >= 1, "count", ""), COUNTS[1], *INDICES)
    proof = attempt(
        (*many, Fact("all", sp.Le(a(m), a(m + 1), evaluate=False), "metric", "")),
        (step("it", sp.Le(a(N - 1), a(N), evaluate=False), ("all", "N"), At("all", m, N - 1)),),
    )
    assert proof.check_step("it").status is Status.PROVED


@pytest.mark.parametrize("value", [N, sp.Integer(-1), r, N - 1 - r, N / 2, sp.Symbol("eta", real=True)], ids=str)
def test_a_value_outside_the_range_is_not_used(value: Any) -> None:
    claim = sp.Le(a(value), a(value + 1), evaluate=False)
    many = (Fact("N", N >= 1, "count", ""), COUNTS[1], *INDICES)
    proof = attempt(
        (*many, Fact("all", sp.Le(a(m), a(m + 1), evaluate=False), "metric", "")),
        (step("it", claim, ("all", "N", "T", "r", "domain eta"), At("all", m, value)),),
    )
    assert proof.check_step("it").status is not Status.PROVED


def test_the_claim_at_one_value_is_that_one() -> None:
    many = (Fact("N", N >= 1, "count", ""), COUNTS[1], *INDICES)
    facts = (*many, Fact("all", sp.Le(a(m), a(m + 1), evaluate=False), "metric", ""))
    for claim in (sp.Le(a(0), a(2)), sp.Le(a(1), a(0)), sp.Le(a(0), a(1) - 1)):
        assert attempt(facts, (step("it", claim, ("all", "N"), At("all", m, sp.Integer(0))),)).check_step(
            "it"
        ).status is (Status.UNDECIDED)
    with pytest.raises(BadInput):
        At("all", m, m + 1).instance({"all": sp.Le(a(m), a(m + 1))})


# numbers of an index as coefficients


def weights(by: Any, uses: tuple[str, ...] = ("square", "p >= 0")) -> Any:
    """p(i) |u(i)|^2 >= 0 from p(i) >= 0."""
    p, u = sp.Function("p", real=True)(i), vector("u", i)
    facts = (
        Fact("N", N >= 1, "count", ""),
        Fact("i", sp.And(i >= 0, i <= N - 1), "index", ""),
        Fact("p >= 0", p >= 0, "metric", ""),
    )
    square = step("square", sp.Ge(norm2(u), 0, evaluate=False), (), Combine())
    claim = sp.Ge(p * norm2(u), 0, evaluate=False)
    return attempt(facts, (square, step("it", claim, uses, by(p)))).check_step("it").status


def test_a_coefficient_is_any_number_of_which_the_facts_speak() -> None:
    assert weights(lambda p: Combine({"square": p}, (p,))) is Status.PROVED
    assert weights(lambda p: Combine({"square": p})) is not Status.PROVED  # it is not linear in terms
    assert weights(lambda p: Combine({"square": p}, (p,)), ("square",)) is not Status.PROVED
    assert weights(lambda p: Combine({"square": 2 * p - p}, (p,)), ("square",)) is not Status.PROVED


def test_a_coefficient_at_another_index_is_another_number() -> None:
    p, q, u = sp.Function("p", real=True), sp.Function("p", real=True)(i + 1), vector("u", i)
    facts = (
        Fact("N", N >= 1, "count", ""),
        Fact("i", sp.And(i >= 0, i <= N - 1), "index", ""),
        Fact("p >= 0", p(i) >= 0, "metric", ""),
    )
    square = step("square", sp.Ge(norm2(u), 0, evaluate=False), (), Combine())
    claim = sp.Ge(q * norm2(u), 0, evaluate=False)
    proof = attempt(facts, (square, step("it", claim, ("square", "p >= 0"), Combine({"square": q}, (p(i), q)))))
    assert proof.check_step("it").status is not Status.PROVED
    assert replace(proof.steps[1].by, coefficients=()) == Combine({"square": q})
