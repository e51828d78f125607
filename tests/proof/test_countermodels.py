"""Counterexamples to claims about vectors: common wrong steps have one, and nothing that follows has."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from boundcheck.proof.countermodel import refuted
from boundcheck.proof.derivation import decided
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.step import Context, Status, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import VectorEquality, inner, norm2, vector

x, D, P, n, m, s = (sp.Symbol(name, real=True) for name in ("x", "D", "P", "n", "m", "s"))
u, v, g = vector("u"), vector("v"), vector("g")
r, p = vector("r", m), vector("p", m)
a = sp.Function("a", real=True)
INDEXED = Context(integers=frozenset({"P", "m", "n"}), ranges=((m, sp.Ge(m, 0)),), seconds=2.0)
ROUNDS = Context(integers=frozenset({"P", "m", "n"}), ranges=((m, sp.Ge(m, 0)), (m, sp.Le(m, P - 1))), seconds=2.0)


@pytest.mark.parametrize(
    ("claim", "facts", "setting"),
    [
        # facts for all integers at once: no number is above all of a(m) >= m
        (norm2(u) <= 1, {"grows": a(m + 1) >= a(m) + 1, "start": a(0) >= 0, "bounded": a(m) <= D}, INDEXED),
        # over the integers only
        (n * (n - 1) * norm2(u) >= 0, {}, INDEXED),
        # a quantity is at least 0
        (norm2(u) + D >= 0, {}, Context(quantities=frozenset({"D"}))),
        # where the claim has no value it is not false
        (sp.Ge(norm2(u) / x, norm2(u) / x), {}, Context()),
        (sp.Ge(sp.sqrt(x) * norm2(u), 0), {}, Context()),
        # where a fact has no value it does not hold
        (norm2(u) <= 0, {"no value": sp.Ge(norm2(v) / (norm2(v) - norm2(v) + 0 * x), 1)}, Context()),
        # the range of an index bounds the claim
        (sp.Ge((3 - m) * norm2(u), 0), {}, Context(integers=frozenset({"m"}), ranges=((m, m >= 0), (m, m <= 3)))),
        # an equation holds for every index, also the last
        (norm2(vector("p", 3) - vector("p", 0)) <= 9, {"step": VectorEquality(p.at(m, m + 1), p + u),
                                                       "u": norm2(u) <= 1}, INDEXED),
        # an index that is not declared, and a real one
        (norm2(r) <= 1, {"r": norm2(r) <= 1}, Context()),
        (s * norm2(u) >= 0, {}, Context(ranges=((s, sp.Ge(s, 0)),))),
    ],
)  # fmt: skip
def test_what_follows_or_has_no_explicit_form_is_not_refuted(claim, facts, setting):
    assert refuted(claim, facts, setting) is None


@pytest.mark.parametrize(
    ("claim", "facts"),
    [
        (norm2(u + v) <= norm2(u) + norm2(v), {"apart": sp.Ge(inner(u, v), 0)}),
        (total(norm2(r), m, P) <= D * (P - 1), {"each": norm2(r) <= D, "P": P >= 1, "D": D > 0}),
        (norm2(p.at(m, P)) <= P * norm2(u), {"step": VectorEquality(p.at(m, m + 1), p + u),
                                             "start": VectorEquality(p.at(m, 0), u * 0), "P": P >= 0}),
        (a(P) <= P, {"grows": a(m + 1) <= a(m) + 2, "start": a(0) <= 0, "P": P >= 0}),
        (norm2(u - g * s) < norm2(u), {"small": s > 0, "co": sp.Ge(inner(g, u), norm2(g))}),
    ],
)  # fmt: skip
def test_common_wrong_steps_are_refuted(claim, facts):
    found = decided(Step("one", claim, tuple(facts), Combine(), ""), facts, ROUNDS, {})
    assert found.status is Status.REFUTED
    for text in found.witness.values():
        assert text.startswith("0 up to") or [Fraction(x) for x in text.strip("()").split(", ")]


def test_a_method_that_knows_more_than_the_facts_is_not_refuted():
    claim = sp.Le(norm2(u), 1)
    assert decided(Step("one", claim, (), Combine(), ""), {}, INDEXED, {}).status is Status.REFUTED
    assert decided(Step("one", claim, (), Expected(("order",)), ""), {}, INDEXED, {}).status is Status.UNDECIDED
