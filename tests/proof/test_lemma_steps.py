"""Citing a lemma for averaged quantities, and adding up increments: what follows, and attempts at what does not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.identity import Decide
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.rules import Accumulation, Induction, Supposing
from boundcheck.proof.step import Context, Fact, Status, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import norm2, vector
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Algorithm, Kind

names = "h2 y2 gam2 d2 sigma2_i sigma2 D_i eta_l L delta a P2 E n m k x w bound2 R"
h2, y2, gam2, d2, sigma2_i, sigma2, D_i, eta_l, L, delta, a, P2, E, n, m, k, x, w, bound2, R = sp.symbols(
    names, real=True
)
noise = sigma2_i / D_i
u, v, later = vector("u"), vector("v"), vector("t")
D1, D2, D5 = (f"fedshuffle/lemma_d_{q}" for q in ("1/corrected", "2/as_printed", "5/corrected"))
ROUNDS = ((u, 7), (v, 7), (later, 8))
f = sp.Function("f", real=True)
b = sp.Function("b", real=True)


@cache
def citing(id=D5):
    """A statement, and the names of its domain and conditions."""
    found = statement(id)
    return found, tuple(fact.name for fact in scope_facts(found))


def cite(rule, claim=None, id=D5, uses=None, **changes):
    """The finding of a step by this rule in a derivation of the statement."""
    about, scope = citing(id)
    about = replace(about, **changes)
    step = Step("cite", rule.instance({}) if claim is None else claim, scope if uses is None else uses, rule, "")
    return Derivation(about, scope_facts(about), (step,), "cite", bound2, rounds=ROUNDS).check_step("cite")


FIRST = Lemma(D1, norm2(u), {noise: sigma2, d2: norm2(v)})


def test_a_lemma_holds_on_average():
    found = cite(FIRST)
    assert found.status is Status.PROVED
    assert found.certificate["statement"] == D1
    assert found.certificate["status"] == "PROVED"
    assert FIRST.instance({}) == sp.Le(
        norm2(u), 2 * eta_l**2 * L**2 * sigma2 + eta_l**2 * L**2 * norm2(v), evaluate=False
    )


def test_what_is_averaged_is_in_the_trusted_base():
    claims = [claim for claim, _ in FIRST.trusted()]
    assert f"{norm2(u)} is the mean of what {D1} bounds, whatever happened before" in claims
    assert "sigma2 is the mean of its sigma2_i/D_i, over the same" in claims
    assert f"{norm2(v)} is the mean of its d2, over the same" in claims
    assert any("transcriptions" in words for words in FIRST.cited())


def test_a_smaller_bound_is_not_the_lemma():
    claim = FIRST.instance({})
    found = cite(FIRST, sp.Le(claim.lhs, claim.rhs - eta_l**2 * L**2 * norm2(v) / 100, evaluate=False))
    assert found.status is Status.UNDECIDED
    assert "the claim is not what the rule gives" in found.note


@pytest.mark.parametrize("missing", ["condition step size and L", "condition momentum", "condition P is 0"])
def test_the_hypotheses_of_the_lemma_are_shown(missing):
    _, scope = citing()
    found = cite(FIRST, uses=tuple(name for name in scope if name != missing))
    assert found.status is Status.UNDECIDED
    assert "does not apply" in found.note


@pytest.mark.parametrize(
    "means",
    [
        {D_i: E, sigma2_i: sigma2, d2: norm2(v)},  # 1/D_i is not linear in D_i
        {sigma2_i**2: sigma2, D_i: E, d2: norm2(v)},
        {noise: sigma2, d2 + 1: norm2(v)},
        {noise**2: sigma2, d2: norm2(v)},
    ],
)
def test_only_what_the_bound_is_linear_in_is_averaged(means):
    with pytest.raises(BadInput, match="no multiple of what is averaged"):
        cite(Lemma(D1, norm2(u), means), FIRST.instance({}))


def test_what_is_not_averaged_stands_for_itself():
    found = cite(Lemma(D1, norm2(u), {d2: norm2(v)}))
    assert found.status is Status.UNDECIDED
    assert "sigma2_i is not declared" in found.note  # the citing statement has no single client


@pytest.mark.parametrize("factor", [eta_l**2, L, a, P2])
def test_what_a_hypothesis_is_about_is_not_averaged(factor):
    """The mean of eta_l^2 d2 is not bounded where eta_l <= 1/(2L) holds on average."""
    rule = Lemma(D1, norm2(u), {factor * d2: norm2(v), noise: sigma2})
    found = cite(rule, FIRST.instance({}))
    assert found.status is Status.UNDECIDED
    assert "a hypothesis" in found.note


def test_a_symbol_that_the_lemma_has_not():
    found = cite(Lemma(D1, norm2(u), {noise: sigma2, d2: norm2(v), x: w}), FIRST.instance({}))
    assert found.status is Status.UNDECIDED
    assert "has no symbol x" in found.note


def test_the_lemma_is_about_the_same_method_under_the_same_assumptions():
    about, _ = citing()
    for changes, words in (
        ({"algorithm": None}, "about another method"),
        ({"algorithm": Algorithm("fedshuffle")}, "about another method"),
        ({"assumptions": about.assumptions[1:]}, "assumes smooth_samples besides"),
        ({"symbols": tuple(s.but(integer=s.name == "a" or s.integer) for s in about.symbols)}, "a is not declared"),
    ):
        found = cite(FIRST, **changes)
        assert found.status is Status.UNDECIDED
        assert words in found.note
    assert FIRST.check(FIRST.instance({}), {}, Context()).status is Status.UNDECIDED


def test_only_upper_bounds_are_cited(monkeypatch):
    proof = derivation(D1)
    other = replace(proof, statement=replace(proof.statement, kind=Kind.EQUALITY))
    monkeypatch.setattr("boundcheck.proof.lemma.derivation", lambda _: other)
    found = cite(FIRST)
    assert found.status is Status.UNDECIDED
    assert "is not an upper bound" in found.note


def test_a_lemma_whose_proof_is_refuted_lends_no_more():
    S = sp.Symbol("S", real=True)
    rule = Lemma(
        "fedshuffle/lemma_d_4/as_printed", norm2(later), dict.fromkeys((h2, gam2, S), norm2(v)) | {noise: sigma2}
    )
    found = cite(rule)
    assert found.status is Status.REFUTED
    assert found.note
    assert found.witness


def test_a_lemma_does_not_cite_itself(monkeypatch):
    about, scope = citing(D2)
    rule = Lemma(D2, norm2(u), {h2: h2, y2: y2, gam2: gam2})
    step = Step("itself", rule.instance({}), scope, rule, "")
    proof = Derivation(about, scope_facts(about), (step,), "itself", bound2, rounds=((u, 0), (h2, 0)))
    monkeypatch.setattr("boundcheck.proof.lemma.derivation", lambda _: proof)
    with pytest.raises(BadInput, match="cited in its own derivation"):
        proof.check_step("itself")


# increments

SUMS = Context(integers=frozenset({"n", "m", "k"}), ranges=((m, m >= 0), (m, m <= n - 1)))
ADD = Accumulation("one more", f(m), m, n)
MORE = {"one more": sp.Le(f(m + 1), f(m) + b(m)), "n": n >= 0}


def status(rule, claim, facts=None, setting=SUMS):
    return rule.check(claim, MORE if facts is None else facts, setting).status


def test_increments_add_up():
    assert status(ADD, sp.Le(f(n), f(0) + total(b(m), m, n))) is Status.PROVED
    constant = {"one more": sp.Le(f(m + 1), f(m) - 2 * x + m), "n": n >= 0}
    assert status(ADD, sp.Le(f(n), f(0) - 2 * n * x + n * (n - 1) / 2), constant) is Status.PROVED
    turned = {"one more": sp.Ge(f(m) + b(m), f(m + 1)), "n": n >= 0}
    assert status(ADD, sp.Le(f(n), f(0) + total(b(m), m, n)), turned) is Status.PROVED


@pytest.mark.parametrize(
    "claim",
    [
        sp.Le(f(n), f(0) + total(b(m), m, n - 1)),
        sp.Le(f(n), f(0) + total(b(m), m, n + 1)),
        sp.Le(f(n + 1), f(0) + total(b(m), m, n)),
        sp.Le(f(n), f(1) + total(b(m), m, n)),
        sp.Ge(f(n), f(0) + total(b(m), m, n)),
        sp.Lt(f(n), f(0) + total(b(m), m, n)),
        sp.Le(f(n), f(0)),
    ],
)
def test_other_sums_do_not_follow(claim):
    assert status(ADD, claim) is Status.UNDECIDED


def test_increments_beyond_the_range_are_not_known():
    further = Accumulation("one more", f(m), m, n + 1)
    assert status(further, sp.Le(f(n + 1), f(0) + total(b(m), m, n + 1))) is Status.UNDECIDED
    backward = Accumulation("one more", f(m), m, -n)
    assert status(backward, sp.Le(f(-n), f(0) + total(b(m), m, -n))) is Status.UNDECIDED
    half = Accumulation("one more", f(m), m, x)
    facts = {**MORE, "x": sp.And(x >= 0, x <= n)}
    assert status(half, sp.Le(f(x), f(0) + total(b(m), m, x)), facts) is Status.UNDECIDED  # x is no integer


def test_the_increment_is_known_for_every_value_of_an_index_only():
    claim = sp.Le(f(n), f(0) + total(b(m), m, n))
    assert status(ADD, claim, setting=replace(SUMS, ranges=())) is Status.UNDECIDED  # m is not declared
    assert status(ADD, claim, setting=replace(SUMS, integers=frozenset({"n"}))) is Status.UNDECIDED
    inside = Supposing(ADD)
    supposed = sp.Implies(MORE["one more"], claim)
    assert status(inside, supposed, {"n": n >= 0, "one more": sp.Le(f(m), f(m))}) is Status.UNDECIDED


def test_the_source_is_an_inequality():
    for source in (sp.Eq(f(m + 1), f(m)), sp.Lt(f(m + 1), f(m))):
        with pytest.raises(BadInput, match="adding up needs the inequality"):
            status(ADD, sp.Le(f(n), f(0)), {"one more": source, "n": n >= 0})
    # a source that says nothing of f leaves f in the increments
    other = {"one more": sp.Le(norm2(u), x), "n": n >= 0}
    assert status(ADD, sp.Le(f(n), f(0)), other) is Status.UNDECIDED


def test_it_agrees_with_induction():
    """The same sum of squares by induction: f(m+1) <= f(m) + m^2."""
    facts = (
        Fact("index k", sp.And(k >= 0, k <= E - 1), "index", ""),
        Fact("start", sp.Le(f(0), 0), "metric", ""),
        Fact("more", sp.Le(f(k + 1), f(k) + k**2), "algorithm", ""),
    )

    def upto(q):
        return sp.Le(f(q), (q - 1) * q * (2 * q - 1) / 6, evaluate=False)

    about, scope = citing()
    steps = (
        Step("added", sp.Le(f(E), f(0) + upto(E).rhs), ("more", "domain E"), Accumulation("more", f(k), k, E), ""),
        Step("base", sp.Le(f(0), 0), ("start",), Decide(), ""),
        Step("next", sp.Implies(upto(k), upto(k + 1)), ("more",), Supposing(Decide()), ""),
        Step("all", upto(E), ("base", "next", "domain E"), Induction("base", "next", k, E), ""),
    )
    assert "domain E" in scope
    found = Derivation(about, (*scope_facts(about), *facts), steps, "all", bound2).examine()
    assert found.counts["PROVED"] == 4
