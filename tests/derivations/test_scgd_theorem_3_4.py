"""Chung's lemma and Theorem 3.4 of SCGD: limits by comparison, and what is no limit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.derivation import DerivationReport
from boundcheck.proof.discovery import derivation
from boundcheck.proof.rules import BernoulliPower, LimitSuperior
from boundcheck.proof.schedule import constant_step
from boundcheck.proof.step import Context, Status

PROVED = ("scgd/lemma_3_2/corrected", "scgd/theorem_3_4/corrected")
CHUNG = derivation("scgd/lemma_3_2/corrected")
K1, m, a, k0, C, limit, eta0, n = sp.symbols("K1 m a k0 C limit eta0 n", real=True)


@cache
def report(name: str) -> DerivationReport:
    return derivation(name).examine()


@pytest.mark.parametrize("b", [1, Fraction(1, 3), 7])
@pytest.mark.parametrize("a", [Fraction(5, 2), 3, 9])
def test_the_recursion_with_equality_stays_below_the_comparison(a, b):
    """u(k+1) = (1 - a/k) u(k) + b/k^3 from k = 9 on, in exact arithmetic up to the power C k^(-a)."""
    start = 9
    u = Fraction(1)
    for k in range(start, 60):
        assert float(u) <= float(b / (a - 2)) / k**2 + float(start / Fraction(k)) ** float(a) + 1e-12
        u = (1 - Fraction(a) / k) * u + Fraction(b) / k**3


@pytest.mark.parametrize("p", range(6))
def test_bernoulli_for_whole_exponents(p):
    for base in (Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)):
        assert (base + 1) ** -p >= (1 - p / base) * base**-p


def changed(which, **changes):
    steps = tuple(replace(s, **changes) if s.name == which else s for s in CHUNG.steps)
    return replace(CHUNG, steps=steps).check_step(which, 3)


def by(which):
    return next(s.by for s in CHUNG.steps if s.name == which)


@pytest.mark.parametrize(
    ("which", "unused"),
    [
        ("C >= 0", "power > 0"),
        ("step", "power"),
        ("step", "k >= a"),
        ("limit", "a > 2"),
    ],
)
def test_a_step_needs_what_it_uses(which, unused):
    own = next(s for s in CHUNG.steps if s.name == which)
    assert unused in own.uses
    assert changed(which, uses=tuple(u for u in own.uses if u != unused)).status is not Status.PROVED


def test_a_negative_power_has_another_tangent():
    k = K1 + m
    rule = BernoulliPower(k, -a)
    claim = rule.instance({})
    found = changed("power", claim=claim, by=rule)
    assert found.status is Status.UNDECIDED
    assert "not shown" in found.note


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("rate", a - 3, None),  # need not be positive
        ("shift", K1 - 1, None),  # the source is not of this form
        ("factor", C + m, "must not depend on m"),
        ("bound", m, "must not depend on m"),
        ("limit", C, "that none of the facts mentions"),
    ],
)
def test_what_does_not_tend_to_the_bound_is_no_limit(field, value, error):
    rule = replace(by("limit"), **{field: value})
    wanted = rule.bound + rule.factor * (m + rule.shift) ** -rule.rate
    facts = {f.name: f.claim for f in CHUNG.facts} | {s.name: s.claim for s in CHUNG.steps}
    used = {u: facts[u] for u in ("K1", "index m", "a > 2")} | {"rate": sp.Le(rule.value, wanted, evaluate=False)}
    used |= {"C >= 0": facts["C >= 0"]}
    if error:
        with pytest.raises(BadInput, match=error):
            rule.instance(used)
    elif field == "shift":
        with pytest.raises(BadInput, match="the limit needs 'rate'"):
            rule.instance({**used, "rate": facts["rate"]})
    else:
        claim = rule.instance(used)
        assert rule.check(claim, used, CHUNG._setting(3.0)).status is Status.UNDECIDED


def test_finitely_many_terms_have_no_limit():
    """Where the index ends, the source says nothing of large indices."""
    facts = tuple(replace(f, claim=sp.And(m >= 0, m <= k0)) if f.name == "index m" else f for f in CHUNG.facts)
    ended = replace(CHUNG, facts=facts)
    assert ended.check_step("rate").status is Status.PROVED
    found = ended.check_step("limit")
    assert found.status is Status.UNDECIDED
    assert "not shown" in found.note


def test_a_limit_of_something_else_is_not_the_claim():
    proof = derivation("scgd/theorem_3_4/corrected")
    own = next(s for s in proof.steps if isinstance(s.by, LimitSuperior))
    assert proof._compare()[0]
    for value in (own.by.value * 2, own.by.value / (K1 + m)):
        steps = tuple(replace(s, by=replace(s.by, value=value)) if s is own else s for s in proof.steps)
        assert not replace(proof, steps=steps)._compare()[0]
    assert not replace(proof, rounds=((proof.rounds[0][0], proof.rounds[0][1] + 1),))._compare()[0]


def test_the_step_of_a_cycle_is_that_of_the_schedule():
    proof = derivation("scgd/theorem_3_4/corrected")
    setting = proof._setting(3.0)
    k = K1 + m
    begin = n * (k - 1)
    assert constant_step(setting, "eta", eta0 / k, begin, n) == ""
    assert "and not" in constant_step(setting, "eta", eta0 / (k + 1), begin, n)
    assert "not shown to be constant" in constant_step(setting, "eta", eta0 / k, begin, 2 * n)
    assert "not shown to be constant" in constant_step(setting, "eta", eta0 / k, begin + 1, n)
    assert "does not say" in constant_step(setting, "E", eta0 / k, begin, n)
    assert "not shown to be constant" in constant_step(
        replace(setting, integers=frozenset()), "eta", eta0 / k, begin, n
    )
    assert isinstance(setting, Context)


@pytest.mark.parametrize("low", [m, sp.Function("u", real=True)(K1), sp.Rational(1, 2), -1])
def test_a_count_is_at_least_numbers_that_are_known_before(low):
    first = next(f for f in CHUNG.facts if f.name == "K1")
    alone = low in (-1, sp.Rational(1, 2))
    claim = sp.Ge(K1, low) if alone else sp.And(K1 >= 1, sp.Ge(K1, low))
    facts = tuple(replace(f, claim=claim) if f is first else f for f in CHUNG.facts)
    with pytest.raises(BadInput):
        replace(CHUNG, facts=facts)
