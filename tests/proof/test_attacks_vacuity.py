"""Attempts to prove something from hypotheses that contradict each other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from attack_tools import LEMMA, PLAIN, attempt, dist2_1, mu, n, relation, step, u, v, y, z

from boundcheck.proof.feasibility import Contradiction, Hypotheses, find_contradiction
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import Jensen, Supposing, Young
from boundcheck.proof.scalar import consistent, decide
from boundcheck.proof.step import Context, Fact, Status, weakest
from boundcheck.proof.vectors import VectorEquality, inner, norm2, vector

m, x = sp.symbols("m x", real=True)
w = vector("w")
WHOLE = Context(integers=frozenset({"n", "m"}))
HALF = sp.Rational(1, 2)


def test_vacuous_is_weaker_than_proved_assumed_and_undecided():
    for other in (Status.PROVED, Status.ASSUMED, Status.UNDECIDED):
        assert weakest([other, Status.VACUOUS]) is Status.VACUOUS
    assert weakest([Status.REFUTED, Status.VACUOUS]) is Status.REFUTED


# integers


@pytest.mark.parametrize(
    "facts",
    [
        {"a": n > 0, "b": n < 1},
        {"a": n > 2, "b": n < 3},
        {"a": sp.Eq(n, x), "b": x > 0, "c": x < 1},
        {"a": sp.Eq(n, x / 2), "b": x > 6, "c": x < 8},
        {"a": sp.Eq(2 * n, 2 * m + 1)},
        {"a": sp.Eq(n, m + HALF)},
        {"a": n**2 > 2, "b": n**2 < 3},
        {"a": n > 0, "b": n < 1, "c": sp.Ge(sp.Min(n, x), 0)},
    ],
    ids=str,
)
@pytest.mark.parametrize("claim", [x <= -1, sp.Ge(n + 1, n, evaluate=False), sp.Eq(x, 5)], ids=str)
def test_no_integer_meets_the_hypotheses(facts, claim):
    assert consistent(facts) is True  # as real numbers they can be met
    assert consistent(facts, WHOLE) is False
    assert decide(claim, facts, WHOLE).status is Status.VACUOUS


@pytest.mark.parametrize(
    "facts",
    [
        {"a": n > 0, "b": n < 2},
        {"a": n > HALF, "b": n < 5 * HALF},
        {"a": sp.Eq(n, x / 2), "b": x > 6, "c": x < 9},
        {"a": sp.Eq(n, 3 * m), "b": m > 0},
    ],
    ids=str,
)
def test_what_integers_meet_is_not_vacuous(facts):
    assert consistent(facts, WHOLE) is True
    assert decide(sp.Ge(x**2 + n**2, 0), facts, WHOLE).status is Status.PROVED
    assert decide(y <= -1, facts, WHOLE).status in (Status.REFUTED, Status.UNDECIDED)


def test_an_identity_of_contradictory_values_is_vacuous():
    facts = {"a": sp.Eq(x, 5), "b": sp.Eq(x, 6)}
    for method in (Decide(), Identity(), Combine()):
        assert method.check(sp.Eq(x, 5), facts, Context()).status is Status.VACUOUS


# vectors

LONG = {"a": sp.Le(norm2(u), y), "b": sp.Le(norm2(v), y), "c": sp.Ge(inner(u, v), 2 * y), "d": y >= 1}
APART = {f"{i}": sp.Eq(norm2(p), 1) for i, p in enumerate((u, v, w))} | {
    f"{i}{j}": sp.Le(inner(p, q), -sp.Rational(3, 5)) for i, p, j, q in ((0, u, 1, v), (0, u, 2, w), (1, v, 2, w))
}
SCALED = {
    "a": sp.Le(norm2(u), x**2 * norm2(v)),
    "b": sp.Le(norm2(v), 3),
    "c": sp.Ge(inner(u, v), 5 * x),
    "d": x >= 2,
}
CONTRADICTORY = {
    "the product is longer than the vectors": LONG,
    "strict": LONG | {"d": y > 0},
    "three vectors cannot all be apart": APART,
    "a product that is too large": {"a": sp.Eq(norm2(u), 4), "b": sp.Eq(norm2(v), 9), "c": sp.Eq(inner(u, v), 7)},
    "with a factor": SCALED,
    "with a denominator": {
        "a": sp.Le(norm2(u), 2 / y),
        "b": sp.Le(norm2(v), 1 / y),
        "c": inner(u, v) * y >= 2,
        "d": y > 3,
    },
}


@pytest.mark.parametrize("facts", CONTRADICTORY.values(), ids=CONTRADICTORY)
def test_no_vectors_meet_the_hypotheses(facts):
    claim = sp.Ge(norm2(u) + norm2(v), 0, evaluate=False)
    found = Combine().check(claim, facts, Context())
    assert found.status is Status.VACUOUS
    assert found.certificate is not None
    assert found.certificate["kind"] == "contradiction"
    assert Combine({"a": 0}).check(sp.Le(x**2 + 1, 0), facts, Context()).status is Status.VACUOUS
    assert Decide().check(sp.Ge(z**2, 0), facts, Context()).status is Status.VACUOUS
    assert Identity().check(sp.Eq(z * (z + 1), z**2 + z), facts, Context()).status is Status.VACUOUS
    for rule in (Young(u, v, sp.Integer(3)), Jensen((HALF, HALF), (u, v))):
        assert rule.check(rule.instance({}), facts, Context()).status is Status.VACUOUS


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_each_hypothesis_is_needed(name):
    """Without one of them there are vectors that meet the others."""
    facts = CONTRADICTORY[name]
    claim = sp.Ge(norm2(u) + norm2(v), 0, evaluate=False)
    for left_out in facts:
        rest = {k: f for k, f in facts.items() if k != left_out}
        found = Combine().check(claim, rest, Context())
        assert found.status is Status.UNDECIDED if (name, left_out) == ("with a denominator", "d") else Status.PROVED


def hypotheses(facts):
    return Hypotheses.of(facts, frozenset(), lambda bottom: 1 if bottom == 1 else 0)


def test_the_certificate_by_hand():
    """|u - v|^2 <= y + y - 4 y = -2 y <= -2."""
    found = find_contradiction(hypotheses(LONG))
    assert found is not None
    assert found.verify(hypotheses(LONG))
    (atom_u, _), (atom_v, _) = u.terms[0], v.terms[0]
    difference = (sp.Integer(1), ((atom_u, sp.Integer(1)), (atom_v, sp.Integer(1))), ((0, 0, Fraction(1)),
                  (0, 1, Fraction(-1)), (1, 1, Fraction(1))))  # fmt: skip
    one = sp.Integer(1)
    terms = ((Fraction(1), "a", one), (Fraction(1), "b", one), (Fraction(2), "c", one), (Fraction(2), "d", one))
    assert replace(found, terms=terms, matrices=(difference,), rest=Fraction(2)).verify(hypotheses(LONG))


def test_a_changed_certificate_fails():
    given = hypotheses(LONG)
    good = find_contradiction(given)
    assert good is not None
    weight, vectors, entries = good.matrices[0]
    first, *others = good.terms
    i, j, value = entries[0]
    wrong = [
        replace(good, rest=good.rest + 1),
        replace(good, rest=-good.rest),
        replace(good, rest=Fraction(0)),
        replace(good, terms=tuple(others)),
        replace(good, terms=((first[0] + 1, *first[1:]), *others)),
        replace(good, terms=((-first[0], *first[1:]), *others)),
        replace(good, terms=((first[0], "no such", first[2]), *others)),
        replace(good, terms=((first[0], first[1], -first[2]), *others)),
        replace(good, matrices=()),
        replace(good, matrices=((-weight, vectors, entries),)),
        replace(good, matrices=((weight, vectors, ((i, j, -value), *entries[1:])),)),
        replace(good, matrices=((weight, vectors[::-1], ((i, j, value + 1), *entries[1:])),)),
    ]
    assert not any(c.verify(given) for c in wrong)
    assert not good.verify(hypotheses({k: f for k, f in LONG.items() if k != "c"}))
    assert not good.verify(hypotheses(LONG | {"c": sp.Ge(inner(u, v), y)}))


def test_an_indefinite_form_is_no_certificate():
    """-<u, u> is no form that is at least 0, so |u|^2 >= 1 contradicts nothing."""
    given = hypotheses({"a": sp.Ge(norm2(u), 1)})
    good = find_contradiction(hypotheses(LONG))
    assert good is not None
    atom = u.terms[0][0]
    one = sp.Integer(1)
    form = (one, ((atom, one),), ((0, 0, Fraction(-1)),))
    assert not replace(good, terms=((Fraction(1), "a", one),), matrices=(form,), rest=Fraction(1)).verify(given)
    assert find_contradiction(given) is None


# derivations


def test_a_derivation_from_contradictory_vectors_is_vacuous():
    names = ("long", "longer", "product", "y >= 1")
    claims = (LONG["a"], LONG["b"], LONG["c"], sp.Ge(y, 1))
    facts = tuple(Fact(name, claim, "assumption", "", PLAIN) for name, claim in zip(names, claims, strict=True))
    false = relation(sp.Le, dist2_1, LEMMA.bound)
    report = attempt(facts, [step("x", false, names, Combine({"product": 1}))]).examine(5)
    assert report.results[0].status is Status.VACUOUS
    assert report.status is Status.VACUOUS
    assert report.counts["PROVED"] == 0
    aside = attempt(facts, [step("x", mu > 0, ("domain mu",), Decide())]).examine(5)
    assert aside.results[0].status is Status.PROVED
    assert aside.status is Status.VACUOUS


def test_a_contradictory_supposition_is_vacuous():
    found = Supposing(Combine()).check(sp.Implies(LONG["c"], sp.Le(norm2(u), 0)), LONG, Context())
    assert found.status is Status.VACUOUS


def test_two_values_of_one_vector_are_equal():
    facts = {"a": VectorEquality(w, u), "b": VectorEquality(w, u * 3), "c": norm2(u) >= 2}
    claim = sp.Ge(norm2(w) + 1, 0, evaluate=False)
    assert Combine().check(claim, facts, Context()).status is Status.VACUOUS
    del facts["c"]
    assert Combine().check(claim, facts, Context()).status is Status.PROVED


def test_signs_and_strictness_of_a_certificate():
    """(y - 3) - (y - 1) == -2 says nothing of y >= 3 and y >= 1, and 0 == 0 of nothing."""
    given = hypotheses({"a": y >= 3, "b": y >= 1, "c": y > 5})
    one = sp.Integer(1)
    negative = Contradiction(((Fraction(1), "a", one), (Fraction(-1), "b", one)), (), Fraction(2))
    nothing = Contradiction((), (), Fraction(0))
    assert not negative.verify(given)
    assert not nothing.verify(given)
    opposite = hypotheses({"a": y <= 0, "b": y > 0})
    zero = Contradiction(((Fraction(1), "a", one), (Fraction(1), "b", one)), (), Fraction(0))
    assert zero.verify(opposite)
    assert not zero.verify(hypotheses({"a": y <= 0, "b": y >= 0}))
