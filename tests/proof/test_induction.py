"""Induction, implications, powers with a symbolic exponent, and circles of citations."""

from __future__ import annotations

import textwrap

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof import discovery
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity, same
from boundcheck.proof.rules import Induction, SumOver, Supposing
from boundcheck.proof.step import Context, Status
from boundcheck.proof.vectors import VectorEquality, norm2, vector

k, K, q, b, x, t, n = (sp.Symbol(s, real=True) for s in ["k", "K", "q", "b", "x", "t", "n"])
a = sp.Function("a", real=True)
COUNTS = Context(integers=frozenset({"k", "K", "n"}), ranges=((k, sp.Ge(k, 0)),))
PROVED, UNDECIDED, REFUTED = Status.PROVED, Status.UNDECIDED, Status.REFUTED


def bound(at, factor=q):
    return sp.Le(a(at), factor**at * x + b / (1 - q), evaluate=False)


RECURSION = {"recursion": sp.Le(a(k + 1), q * a(k) + b), "q": sp.Ge(q, 0), "contracts": q < 1}


def test_powers_with_a_symbolic_exponent():
    assert same(q ** (k + 2), q**2 * q**k)
    assert same(q ** (k + 1) - q**k, (q - 1) * q**k)
    assert not same(q ** (k + 1), q**k)
    assert not same((1 - q) ** k, (1 - x) ** k)
    assert Identity().check(sp.Eq(q ** (k + 1), q * q**k, evaluate=False), {}, COUNTS).status is PROVED
    assert Decide().check(sp.Le(q ** (k + 1), q**k), {"q": q <= 1, "sign": sp.Ge(q**k, 0)}, COUNTS).status is PROVED
    assert Decide().check(sp.Le(q ** (k + 1), q**k), {"q": q <= 1}, COUNTS).status is not PROVED


def test_step_case_of_a_linear_recursion():
    claim = sp.Implies(bound(k), bound(k + 1))
    assert Supposing(Combine()).check(claim, RECURSION, COUNTS).status is PROVED
    wrong = sp.Implies(bound(k, x), bound(k + 1, x))
    assert Supposing(Combine()).check(wrong, RECURSION, COUNTS).status is UNDECIDED
    for name in RECURSION:
        less = {key: f for key, f in RECURSION.items() if key != name}
        assert Supposing(Combine()).check(claim, less, COUNTS).status is UNDECIDED


def test_an_implication_is_refuted_by_a_point_that_meets_its_hypothesis():
    found = Supposing(Decide()).check(sp.Implies(x >= 1, x >= t), {"t": t <= 2}, COUNTS)
    assert found.status is REFUTED
    assert sp.Rational(found.witness["t"]) > sp.Rational(found.witness["x"]) >= 1
    assert Supposing(Decide()).check(sp.Implies(x >= 2, x >= t), {"t": t <= 2}, COUNTS).status is PROVED
    found = Supposing(Decide()).check(sp.Implies(x >= 3, x >= t), {"x": x <= 2}, COUNTS)
    assert found.status is Status.VACUOUS
    assert Supposing(Decide()).check(x >= 1, {"x": x >= 1}, COUNTS).status is UNDECIDED
    with pytest.raises(BadInput, match="hypothesis"):
        Supposing(Decide()).check(sp.Implies(x >= 1, x >= t), {"hypothesis": x >= t}, COUNTS)


def test_an_implication_is_not_a_fact_for_other_kernels():
    facts = {"if": sp.Implies(x >= 1, x >= t)}
    assert Decide().check(x >= t, facts, COUNTS).status is REFUTED
    assert Combine().check(sp.Le(norm2(vector("u")), 0), facts, COUNTS).status is UNDECIDED


BASE, STEP = bound(sp.Integer(0)), sp.Implies(bound(k), bound(k + 1))


def induct(base=BASE, step=STEP, given=K >= 0, last=K, setting=COUNTS):
    facts = {"base": base, "step": step, "K": given, "contracts": q < 1}
    return Induction("base", "step", k, last).check(bound(last), facts, setting).status


def test_induction():
    assert induct() is PROVED
    assert induct(base=sp.Le(a(0), x + 2 * b / (1 - q))) is UNDECIDED
    assert induct(given=K >= -1) is UNDECIDED
    assert induct(last=K / 2) is UNDECIDED  # perhaps not an integer
    assert induct(setting=Context(integers=COUNTS.integers, ranges=((k, sp.Ge(k, 1)),))) is UNDECIDED
    assert induct(setting=Context(integers=COUNTS.integers, ranges=((k, sp.Le(k, 9)),))) is UNDECIDED
    with pytest.raises(BadInput, match="is not its hypothesis"):
        induct(step=sp.Implies(bound(k), bound(k + 2)))
    with pytest.raises(BadInput, match="needs the implication"):
        induct(step=bound(k + 1))


def test_vector_equalities_are_summed():
    v, w = vector("v", k), vector("w", k)
    facts = {"each": VectorEquality(v, w * 2 + vector("z")), "n": n >= 1}
    sum_v = VectorEquality(SumOver("each", k, n).instance(facts).left, SumOver("each", k, n).instance(facts).right)
    setting = Context(integers=COUNTS.integers, ranges=((k, sp.Ge(k, 0)), (k, sp.Le(k, n - 1))))
    assert SumOver("each", k, n).check(sum_v, facts, setting).status is PROVED
    assert dict(sum_v.right.terms)[sp.Symbol("z")] == n
    longer = SumOver("each", k, n + 1).instance(facts)
    assert SumOver("each", k, n + 1).check(longer, facts, setting).status is UNDECIDED
    twice = VectorEquality(sum_v.left, sum_v.right * 2)
    assert SumOver("each", k, n).check(twice, facts, setting).status is UNDECIDED


def test_a_square_alone_needs_a_factor_of_at_least_0():
    u, v = vector("u"), vector("v")
    claim = sp.Ge(t * norm2(u) + norm2(v), 0, evaluate=False)
    assert Combine().check(claim, {"t": t >= 0}, COUNTS).status is PROVED
    assert Combine().check(claim, {"t": t >= -1}, COUNTS).status is UNDECIDED


def test_a_fact_is_a_sign_only_where_it_has_a_value():
    u = vector("u")
    claim = sp.Ge((t * x + t) * norm2(u), 0, evaluate=False)
    pole = sp.Ge(t * (x**2 - 1) / (x - 1), 0, evaluate=False)
    assert Combine().check(claim, {"f": sp.Ge(t + t * x, 0)}, COUNTS).status is PROVED
    assert Combine().check(claim, {"f": pole}, COUNTS).status is UNDECIDED
    assert Combine().check(claim, {"f": pole, "x": x > 1}, COUNTS).status is PROVED
    assert Combine().check(claim, {"f": sp.Ge(t + t * x, -1)}, COUNTS).status is UNDECIDED


CIRCLE = """
    import sympy as sp
    from boundcheck.proof.cited import Cited
    from boundcheck.proof.derivation import Derivation, scope_facts
    from boundcheck.proof.step import Fact, Step

    READINGS = ("corrected",)
    run, t = sp.Function("run", real=True), sp.Symbol("t", real=True)

    def derivation(statement):
        facts = scope_facts(statement)
        start = Fact("start", sp.Ge(run(0), 0), "metric", "a squared distance")
        bound = statement.bound.subs(sp.Symbol("dist2_0", real=True), run(0))
        claim = sp.Le(run(statement.metric.rounds), bound)
        uses = ("start", *(f.name for f in facts))
        step = Step("itself", claim, uses, Cited(statement.id, run(t), t), "by itself")
        return Derivation(statement, (*facts, start), (step,), "itself", TARGET)
"""


@pytest.mark.parametrize("target", ['sp.Symbol("dist2_1", real=True)', "run(1)"])
def test_a_statement_that_cites_itself(tmp_path, monkeypatch, target):
    monkeypatch.setattr(discovery, "folder", lambda: tmp_path)
    discovery._module.cache_clear()
    (tmp_path / "scgd").mkdir()
    (tmp_path / "scgd" / "lemma_3_1.py").write_text(textwrap.dedent(CIRCLE.replace("TARGET", target)), encoding="utf-8")
    try:
        with pytest.raises(BadInput, match=r"cited in its own derivation: scgd/lemma_3_1/corrected -> "):
            discovery.derivation("scgd/lemma_3_1/corrected").examine()
    finally:
        discovery._module.cache_clear()
