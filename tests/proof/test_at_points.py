"""Facts that are taken from the catalogue of assumptions, and attempts to state a stronger one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.at_points import Evaluation, check_taken, lower_model, pointwise, upper_model
from boundcheck.proof.discovery import derivation, derived_readings, folder
from boundcheck.proof.step import Fact
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory import assumptions as known
from boundcheck.theory.assumptions import Assumption, finite_gradient_noise, smooth_clients, strong_quasi_convexity
from boundcheck.theory.discovery import statement

LEMMA = statement("scgd/lemma_3_1/corrected")
L, k, m, mu, t, j, n_i, own = sp.symbols("L k m mu t j n_i own", real=True)
f = sp.Function("f", real=True)
u, v, p, q, slope, other, g = (vector(name) for name in ("u", "v", "p", "q", "slope", "other", "g"))
ZERO = Vector(())
delta, F_x, F_y, G2, B2, P2, sigma2, clients = sp.symbols("delta F_x F_y G2 B2 P2 sigma2 clients", real=True)
P = sp.Symbol("P", real=True)
AT_U, AT_V = Evaluation("f_i", u, p, F_x, which=m), Evaluation("f_i", v, q, F_y, which=m)
OF_F, OF_SAMPLES = (tuple(replace(one, function=name) for one in (AT_U, AT_V)) for name in ("F", "f_ij"))
X, MINIMISER = Evaluation("F", u, slope, F_x), Evaluation("F", ZERO, ZERO, F_y)
PATH = Evaluation("F", u * t, value=f(t), along=t)
SAMPLE, CLIENT = Evaluation("f_ij", u, vector("g", j), which=j), Evaluation("f_i", u, p)
NOISE = total(norm2(vector("g", m)), m, P)
TAKING = sorted((x.parent.name, x.stem) for x in folder().glob("*/*.py") if "at_points import" in x.read_text())


def built(*facts: Fact) -> None:
    check_taken(LEMMA, facts)


def le(left: Any, right: Any) -> Any:
    return sp.Le(left, right, evaluate=False)


STEP = F_x + inner(p, v - u)
GIVEN: list[tuple[Fact, Any]] = [
    (pointwise("", smooth_clients, "", AT_U, AT_V), le(norm2(p - q), L**2 * norm2(u - v))),
    (pointwise("", known.hessian_similarity, "", AT_U, AT_V, X, Evaluation("F", v, other)),
     le(norm2(p - q - (slope - other)), delta**2 * norm2(u - v))),
    (pointwise("", finite_gradient_noise, "", noise2=NOISE / P), le(NOISE / P, sigma2)),
    (pointwise("", known.gradient_dissimilarity, "", X, client_grad2=clients), le(clients, G2 + B2 * norm2(slope))),
    # at a point and along a segment
    (pointwise("", strong_quasi_convexity, "", X, MINIMISER),
     sp.Ge(inner(slope, u), mu * norm2(u) / 2 + F_x - F_y)),
    (pointwise("", strong_quasi_convexity, "", PATH, MINIMISER),
     sp.Ge(t * sp.diff(f(t), t), mu * t**2 * norm2(u) / 2 + f(t) - F_y)),
    # models
    (upper_model("", smooth_clients, "", AT_U, AT_V), le(F_y, STEP + L / 2 * norm2(v - u))),
    (lower_model("", known.strongly_convex_samples, "", *OF_SAMPLES), sp.Ge(F_y, STEP + mu / 2 * norm2(v - u))),
    (lower_model("", known.convexity, "", *OF_F), sp.Ge(F_y, STEP)),
    (upper_model("", known.smooth_weighted, "", *OF_F, scaled_move2=clients), le(F_y, STEP + clients / 2)),
    # Assumption 3.4 for the samples of a client, an infimum, and the variance of a draw
    (pointwise("", known.local_variance, "", CLIENT, SAMPLE, sigma2_i=own, D_i=n_i),
     le(total(norm2(vector("g", j) - p), j, n_i) / n_i, own + P2 * n_i * norm2(p))),
    (pointwise("", known.bounded_below, "", gap=f(t)), sp.Ge(f(t), 0)),
    (pointwise("", known.block_variance, "", draw_deviation2=p - q, weight2=t, deviation2=sigma2),
     le(norm2(p - q), t * sigma2)),
]  # fmt: skip


@pytest.mark.parametrize(("fact", "claim"), GIVEN, ids=lambda x: str(getattr(x, "assumption", "")))
def test_what_the_catalogue_gives(fact: Fact, claim: Any) -> None:
    assert fact.claim == claim


@pytest.mark.parametrize("name", sorted(known.CLASSES))
def test_every_assumption_is_applied_or_has_no_inequality_that_a_derivation_uses(name: str) -> None:
    """An inequality of the catalogue holds at points, with the quantities that it needs."""
    assumption = known.CLASSES[name]
    if assumption.inequality is None:
        # one that derivations alone can take is refused where it is not about these points
        named = r"is about F|needs f_i|must name the quantity|needs a"
        with pytest.raises(BadInput, match=named if name in known.IN_PROOFS else "no inequality"):
            pointwise("", assumption, "", AT_U, AT_V)
        return
    quantities = {s.name for s in assumption.inequality.free_symbols}
    if quantities & {"own_block_difference2", "block_difference2", "scaled_block_difference2"}:
        return  # about single blocks, which no derivation has
    function = "f_ij" if any(q.startswith("component") for q in quantities) else "f_i"
    function = "F" if quantities & {"monotonicity", "inner", "gap", "grad2"} else function
    at = [Evaluation(function, u, p, F_x), Evaluation(function, v, ZERO, F_y)]
    if "similarity2" in quantities:
        at += [Evaluation("F", u, slope), Evaluation("F", v, q)]
    wanted = quantities & {"client_grad2", "noise2", "scaled_difference2"}
    claim = pointwise("", assumption, "", *at, **dict.fromkeys(wanted, clients)).claim
    assert not {s.name for s in claim.free_symbols} & set(known.QUANTITIES)


# what it does not

FACT = pointwise("A", smooth_clients, "", AT_U, AT_V)
STRONGER = le(norm2(p - q), L**2 * norm2(u - v) / 4)
WITH_G = Evaluation("f_i", vector("w", m), vector("g", m), which=m)
NO_LINEAR_PART = [Evaluation("f_i", point, ZERO, which=m) for point in (u, v)]


def smooth(name: str, *at: Evaluation) -> Fact:
    return pointwise(name, smooth_clients, "", *at)


def beside(another: Evaluation) -> tuple[Fact, Fact]:
    """The fact that the gradient at w is g, and another fact."""
    origins = (replace(one, point=ZERO, gradient=ZERO) for one in (WITH_G, another))
    return tuple(smooth(name, one, origin) for name, one, origin in zip("AB", (WITH_G, another), origins, strict=True))  # pyright: ignore


INSTANCE = "at its points the inequality"


@pytest.mark.parametrize(("facts", "message"), [
    # an inequality of the catalogue is not written down, not even itself
    *(([Fact("A", claim, "assumption", "", "smooth_clients")],
       r"must be taken from the inequality grad_difference2 <= L\*\*2\*point") for claim in (STRONGER, FACT.claim)),
    ([replace(FACT, claim=STRONGER)], INSTANCE), ([replace(FACT, kind="metric")], "is made from an inequality"),
    ([replace(FACT, assumption="plain_mean")], "is made from an inequality"),
    # a gradient that is said to be at half the distance would make smoothness four times as strong
    (beside(replace(WITH_G, point=vector("w", m) / 2)), "as the gradient at"),
    (beside(replace(WITH_G, function="F", which=None)), "as the gradient at"),
    (beside(replace(WITH_G, which=k)), "as the gradient at"),
    (beside(replace(WITH_G, gradient=vector("h", m))), "two gradients of f_i"),
    # a linear part is left out at one point only
    ([smooth("A", Evaluation("f_i", vector("x"), p, which=m), NO_LINEAR_PART[0]),
      smooth("B", Evaluation("f_i", vector("y"), q, which=m), NO_LINEAR_PART[1])], "has 0 as the gradient"),
])  # fmt: skip
def test_a_fact_that_is_no_instance_or_contradicts_another(facts: Any, message: str) -> None:
    built(FACT)
    with pytest.raises(BadInput, match=message):
        built(*facts)


def test_the_assumption_is_the_statements_own() -> None:
    """A plug-in's assumption of the same name with another inequality gives another fact."""
    s = {x.name: x for x in smooth_clients.inequality.free_symbols}
    weaker = Assumption("smooth_clients", "", sp.Le(s["grad_difference2"], 4 * s["L"] ** 2 * s["point_difference2"]))
    all_own = tuple(weaker if a.name == "smooth_clients" else a for a in LEMMA.assumptions)
    with pytest.raises(BadInput, match=INSTANCE):
        check_taken(replace(LEMMA, assumptions=all_own), (FACT,))


@pytest.mark.parametrize("shipped", TAKING, ids="/".join)
def test_no_shipped_fact_can_be_strengthened(shipped: tuple[str, str]) -> None:
    """Every fact with an inequality in the catalogue, made stronger by 1, is refused; in every reading."""
    for reading in derived_readings(*shipped):
        original = derivation("/".join((*shipped, reading)))
        for fact in (x for x in original.facts if x.instance is not None):
            more = 1 if isinstance(fact.claim, sp.Le) else -1
            claim = fact.claim.func(fact.claim.lhs + more, fact.claim.rhs, evaluate=False)
            with pytest.raises(BadInput, match=INSTANCE):
                check_taken(original.statement, (replace(fact, claim=claim),))


def variance(*at: Evaluation) -> Fact:
    return pointwise("", known.local_variance, "", *at, sigma2_i=own, D_i=n_i)


SAYS_NOTHING: list[tuple[Callable[[], Any], str]] = [
    (lambda: Evaluation("g", u), "no function of the problem"),
    (lambda: Evaluation("f_i", u, p * 2), "one vector atom or the zero vector"),
    (lambda: Evaluation("f_i", u, p - q), "one vector atom or the zero vector"),
    (lambda: Evaluation("f_i", u, value=2 * F_x), "a symbol, a function of indices, or 0"),
    (lambda: Evaluation("F", u + v * t, value=f(t), along=t), "t times a vector"),
    (lambda: smooth("", AT_U, replace(AT_V, which=k)), "two functions"),
    (lambda: smooth("", *OF_SAMPLES), "not about"),
    (lambda: smooth("", AT_U), "needs two points"),
    (lambda: lower_model("", known.convexity, "", AT_U, AT_V), "is about F, not about f_i"),
    (lambda: upper_model("", known.convexity, "", *OF_F), "no upper model"),
    (lambda: lower_model("", smooth_clients, "", AT_U, AT_V), "no lower model"),
    (lambda: upper_model("", smooth_clients, "", AT_U, replace(AT_V, value=None)), "needs the values"),
    (lambda: pointwise("", finite_gradient_noise, "", noise2=clients / 4), "cannot be named"),
    (lambda: pointwise("", finite_gradient_noise, "", noise2=NOISE), "be named"),
    (lambda: pointwise("", known.smooth_samples, "", AT_U, AT_V, component_difference2=clients), "cannot be named"),
    (lambda: pointwise("", finite_gradient_noise, ""), "must name the quantity noise2"),
    (lambda: pointwise("", strong_quasi_convexity, "", *OF_F), "needs a minimiser"),
    (lambda: pointwise("", known.hessian_similarity, "", AT_U, AT_V), "same two points"),
    (lambda: variance(CLIENT, replace(SAMPLE, point=v)), "needs f_i"),
    (lambda: variance(CLIENT, replace(SAMPLE, which=(m, j))), "needs a sample"),
    (lambda: variance(CLIENT, replace(SAMPLE, function="f_i")), "needs f_i"),
    (lambda: variance(CLIENT, replace(SAMPLE, which=sp.Integer(0))), "needs a sample"),
    (lambda: variance(SAMPLE, CLIENT), "needs f_i"),
]


@pytest.mark.parametrize(("make", "message"), SAYS_NOTHING, ids=range(len(SAYS_NOTHING)))
def test_an_assumption_says_nothing_about_other_terms(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        make()
