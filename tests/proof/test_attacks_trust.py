"""Attempts to hide an assumption in paths, names, facts and citations, and what is listed as trusted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import sympy as sp
from attack_tools import (
    INDEX_K,
    INDEX_M,
    LEMMA,
    PLAIN,
    L,
    attempt,
    definition,
    dist2_0,
    dist2_1,
    eta,
    f,
    g,
    grad,
    j,
    k,
    last,
    m,
    mu,
    n,
    relation,
    sigma2,
    step,
    t,
    u,
    y,
    z,
)

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.cited import Cited
from boundcheck.proof.derivation import scope_facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import (
    MeanValue,
    SumOver,
    Supposing,
)
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import NAMES, Context, Fact, Finding, Status
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import inner, norm2, vector
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind

# calculus


def test_the_path_of_the_mean_value_theorem_is_smooth():
    """tan(2t) has a pole in (0, 1); |t - 1/2| and Min are not differentiable there."""
    rising = Fact("range t", sp.And(t >= 0, t <= 1), "range", "")
    slope = sp.diff(sp.tan(2 * t), t)
    steps = [
        step("d", relation(sp.Ge, slope, 2), ("range t",), Decide()),
        step(
            "x",
            relation(sp.Ge, sp.tan(2), 2),
            ("d",),
            MeanValue(sp.tan(2 * t), t, sp.Integer(2), sp.Integer(0), "d"),
        ),
    ]
    with pytest.raises(BadInput, match="does not know"):
        attempt((rising,), steps)
    setting = Context(ranges=((t, t >= 0), (t, t <= 1)))
    for path in (sp.tan(2 * t), sp.Abs(t - sp.Rational(1, 2)), sp.Min(t, 1 - t), sp.sqrt(t), f(1 / t), sp.floor(t)):
        fact = relation(sp.Ge, sp.diff(path, t), 0)
        rule = MeanValue(path, t, sp.Integer(0), sp.Integer(0), "d")
        with pytest.raises(BadInput, match="is not rational in t"):
            rule.check(relation(sp.Ge, z, 0), {"d": fact}, setting)


# names


@pytest.mark.parametrize("name", ["_value", "_k", "_count", "_i0", "_x0", "_u", "_R", "_a0"])
def test_names_of_the_checker_are_refused(name):
    own = sp.Symbol(name, real=True)
    with pytest.raises(BadInput, match="underscore"):
        attempt((Fact("d", sp.Eq(own, n - 1), "definition", ""),), [step("x", own >= 0, ("d",), Decide())])
    with pytest.raises(BadInput, match="underscore"):
        attempt((), [step("x", sp.Ge(norm2(vector(name)), 0, evaluate=False), (), Combine())])
    with pytest.raises(BadInput, match="own"):
        decide(own >= 0, {"d": own >= 1})


def test_the_symbols_of_a_rule_are_nobody_elses():
    """A fact about `_value` or `_k` would otherwise meet the rule's own symbol of that name."""
    value, count = sp.Symbol("_value", real=True), sp.Symbol("_k", real=True)
    setting = Context(integers=frozenset({"m", "n"}), ranges=((m, m >= 0), (m, m <= n - 1)))
    facts = {"A": sp.Le(norm2(g), L), "n": n >= 1, "v": sp.Eq(value, n - 1), "k": sp.Eq(count, 1)}
    claim = sp.Le(total(norm2(g), m, n + 1), (n + 1) * L)
    with pytest.raises(BadInput, match="own"):
        SumOver("A", m, n + 1).check(claim, facts, setting)
    with pytest.raises(BadInput, match="own"):
        total(f(m * sp.Symbol("_i0", real=True)), m, n)
    free = {name: fact for name, fact in facts.items() if name in ("A", "n")}
    assert SumOver("A", m, n + 1).check(claim, free, setting).status is Status.UNDECIDED


@pytest.mark.parametrize(
    "claim",
    [
        sp.Eq(sp.Symbol("q", positive=True), sigma2),
        sp.Eq(sp.Symbol("q", integer=True), sigma2),
        sp.Ge(sp.Function("q", nonnegative=True)(m), sigma2),
        sp.Ge(sp.exp(y), sigma2),
        sp.Ge(sp.log(y), sigma2),
        sp.Ge(y, sp.Float(0.1)),
        sp.Ge(y, sp.Sum(f(j), (j, 1, n))),
        sp.Or(y >= 1, y <= 0),
        sp.Ge(norm2(vector("mu")), 1),
    ],
    ids=["positive", "integer", "nonnegative", "exp", "log", "float", "own sum", "or", "two meanings"],
)
def test_only_what_the_kernels_understand_is_read(claim):
    with pytest.raises(BadInput):
        attempt((Fact("fact", claim, "metric", ""),), [step("x", mu > 0, ("domain mu",), Decide())])
    with pytest.raises(BadInput):
        attempt((), [step("x", claim, ("domain mu",), Decide())])


# what is taken over from the author


def test_the_bound_is_not_a_fact():
    false = statement("scgd/lemma_3_1/as_printed_main")
    magic = Fact("magic", sp.Le(dist2_1, false.bound), "metric", "")
    conclude = [step("x", sp.Le(dist2_1, false.bound), ("magic",), Decide())]
    with pytest.raises(BadInput, match="contains the bound"):
        attempt((magic,), conclude, about=false)
    other = Fact("magic", sp.Ge(false.bound * 2 - 2 * dist2_1 + dist2_1, dist2_1 + false.bound), "metric", "")
    with pytest.raises(BadInput):
        attempt((other,), [step("x", sp.Le(dist2_1, false.bound), ("magic",), Decide())], about=false)


def test_an_assumption_is_one_of_the_statements():
    for name in ("", "convexity"):
        fact = Fact("convex", sp.Ge(inner(grad, u), 0), "assumption", "", name)
        with pytest.raises(UnknownName, match="must name an assumption"):
            attempt((fact,), [step("x", mu > 0, ("domain mu",), Decide())])


@pytest.mark.parametrize("kind", ["assumption", "metric", "algorithm"])
def test_a_transcription_does_not_restrict_the_parameters_in_passing(kind):
    fact = Fact("A", sp.And(sp.Le(eta * L, sp.Rational(1, 1000)), y >= 0), kind, "", PLAIN)
    with pytest.raises(BadInput, match="restricts the statement's own symbols"):
        attempt((fact,), [step("x", mu > 0, ("domain mu",), Decide())])


def test_a_count_is_an_integer_from_some_number_on():
    for claim in (sp.Ge(y, mu), sp.Le(y, 3), sp.Ge(y, sp.Rational(1, 2)), sp.Ge(n, 2)):
        with pytest.raises(BadInput):
            attempt((Fact("count", claim, "count", ""),), [step("x", mu > 0, ("domain mu",), Decide())])


@pytest.mark.parametrize("target", [sp.Integer(0), dist2_0, y, m, -dist2_1, f(m)])
def test_the_target_is_the_metric(target):
    facts = (definition("y", sp.Integer(0)), INDEX_M)
    with pytest.raises(BadInput, match="target"):
        attempt(facts, [step("x", relation(sp.Le, target, LEMMA.bound), ("y",), Decide())], target=target)


def test_another_kind_of_claim_is_not_an_upper_bound():
    limit = replace(LEMMA, kind=Kind.LIMSUP)
    report = attempt((), [step("x", sp.Le(dist2_1, LEMMA.bound), (), Decide())], about=limit).examine(5)
    assert not report.bound_matches
    assert "limsup" in report.remarks[0]


def test_facts_that_cannot_all_hold_are_noticed_across_steps():
    facts = (Fact("low", sp.Le(y, 0), "metric", ""), Fact("high", sp.Ge(y, 1), "metric", ""))
    steps = [step("one", relation(sp.Le, y, 1), ("low",), Decide()), step("x", y >= 0, ("high",), Decide())]
    report = attempt(facts, steps).examine(5)
    assert report.status is Status.VACUOUS
    assert any("cannot all hold" in remark for remark in report.remarks)


def test_what_is_trusted_is_listed():
    report = derivation("scgd/lemma_3_1/corrected").examine()
    kinds = [x.kind for x in report.trusted]
    assert sum(x.kind == "assumption" for x in report.facts) == 6
    assert "assumption" not in kinds  # their inequalities are the catalogue's; what they are about is listed
    said = {x.claim for x in report.trusted if x.kind == "evaluation"}
    assert said >= {"g(m) is the gradient of f_i of m at w(m)", "phi(1) is the value of F at w(0)"}
    assert said >= {"|w(0)|^2 is dist2_0", "g(m) is what the step from w(m) takes for the gradient"}
    assert len(said) == kinds.count("evaluation") == 13
    assert {x.name for x in report.trusted} >= {"start", "end", "local step", "cycle", "A2.3", "target"}
    assert [x.claim for x in report.trusted if x.kind == "presumed"] == ["phi is continuously differentiable"]
    assert report.to_dict()["trusted"][0] == report.trusted[0].to_dict()
    names = [x for x in report.trusted if x.kind in NAMES]
    assert any(f"rests on {len(report.trusted) - len(names)} transcriptions" in remark for remark in report.remarks)
    theorem = derivation("scgd/theorem_3_3/corrected").trusted()
    assert any("run(k, t) is the metric after t rounds" in x.claim for x in theorem)


@dataclass(frozen=True)
class Oracle:
    label: str = "an oracle"

    def check(self, claim, facts, setting):
        return Finding(Status.PROVED, self.label, claim=str(claim))


def test_a_method_of_another_package_is_trusted_by_name():
    report = attempt((), [step("x", sp.Le(dist2_1, LEMMA.bound), (), Supposing(Oracle()))])
    assert any("'an oracle' is sound" in x.claim for x in report.trusted())


@pytest.mark.parametrize("run", [dist2_0 * (1 + t), dist2_0 + 0 * t, f(t) + t, f(t, t), f(2 * t), f(k)])
def test_only_a_run_is_cited(run):
    """dist2_0 (1 + t) is at least 0 at t = 0, but no lemma bounds it at t = n."""
    theorem = statement("scgd/theorem_3_3/corrected")
    rule = Cited("scgd/lemma_3_1/corrected", run, t)
    uses = tuple(fact.name for fact in scope_facts(theorem))
    claim = rule.instance({})
    found = last((INDEX_K,), [step("x", claim, uses, rule)], about=theorem)
    assert found.status is Status.UNDECIDED
    assert "the run" in found.note


# input that used to end in a traceback


@pytest.mark.parametrize(
    "claim", [relation(sp.Le, y**2, -1), relation(sp.Lt, y**4 + y**2, -2), relation(sp.Eq, y**2, -1)]
)
def test_impossible_claims_and_facts_are_decided(claim):
    assert decide(claim, {}).status in (Status.REFUTED, Status.UNDECIDED)
    found = decide(y >= 0, {"impossible": claim})
    assert found.status is Status.VACUOUS


def test_a_number_may_be_defined():
    facts = (definition("z", sp.Integer(0)), Fact("A", sp.Le(norm2(u), z), "assumption", "", PLAIN))
    report = attempt(facts, [step("x", sp.Le(2 * norm2(u), z), ("A", "z"), Combine())]).examine(5)
    assert report.results[0].status is Status.PROVED


@pytest.mark.parametrize("name", ["plain", "with. a dot", "a.1"])
def test_a_definition_without_a_value_is_no_background_whatever_its_name(name):
    fact = Fact(name, relation(sp.Eq, t, 1 / (mu - L)), "definition", "")
    proof = attempt([fact], [step("x", mu > 0, ("domain mu",), Decide())])
    reasons, setting = proof._founded(proof._setting(5))
    assert list(reasons) == [name]
    assert not any(f.has(t) for _, f in setting.background)
    assert any(f.has(mu) for _, f in setting.background)
