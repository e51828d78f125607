"""Facts that are taken from the catalogue of assumptions, and attempts to state a stronger one."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.at_points import Evaluation, check_taken, lower_model, pointwise, upper_model
from boundcheck.proof.discovery import derivation, derived_readings, folder
from boundcheck.proof.step import Fact
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory import assumptions
from boundcheck.theory.assumptions import (
    Assumption,
    convexity,
    finite_gradient_noise,
    gradient_dissimilarity,
    hessian_similarity,
    smooth_clients,
    smooth_samples,
    smooth_weighted,
    strong_quasi_convexity,
    strongly_convex_samples,
)
from boundcheck.theory.discovery import statement

LEMMA = statement("scgd/lemma_3_1/corrected")
L, k, m, mu, t = sp.symbols("L k m mu t", real=True)
f = sp.Function("f", real=True)
u, v = vector("u"), vector("v")

ZERO = Vector(())
p, q, slope = vector("p"), vector("q"), vector("slope")
delta, F_x, F_y, G2, B2, sigma2, clients = sp.symbols("delta F_x F_y G2 B2 sigma2 clients", real=True)
P, n = sp.symbols("P n", real=True)
AT_U, AT_V = Evaluation("f_i", u, p, F_x, which=m), Evaluation("f_i", v, q, F_y, which=m)
OF_F = tuple(replace(one, function="F") for one in (AT_U, AT_V))
TAKING = sorted((x.parent.name, x.stem) for x in folder().glob("*/*.py") if "at_points import" in x.read_text())


def built(*facts):
    check_taken(LEMMA, facts)


# what the catalogue gives


def test_the_inequalities_at_points():
    assert pointwise("", smooth_clients, "", AT_U, AT_V).claim == sp.Le(norm2(p - q), L**2 * norm2(u - v))
    both = (AT_U, AT_V, Evaluation("F", u, slope), Evaluation("F", v, vector("other")))
    change = p - q - (slope - vector("other"))
    assert pointwise("", hessian_similarity, "", *both).claim == sp.Le(
        norm2(change), delta**2 * norm2(u - v), evaluate=False
    )
    noise = total(norm2(vector("g", m)), m, P) / P
    assert pointwise("", finite_gradient_noise, "", noise2=noise).claim == sp.Le(noise, sigma2)
    alike = pointwise("", gradient_dissimilarity, "", Evaluation("F", u, slope), client_grad2=clients)
    assert alike.claim == sp.Le(clients, G2 + B2 * norm2(slope))


def test_strong_quasi_convexity_at_a_point_and_along_a_segment():
    x, minimiser = Evaluation("F", u, slope, F_x), Evaluation("F", ZERO, ZERO, F_y)
    claim = pointwise("", strong_quasi_convexity, "", x, minimiser).claim
    assert claim == sp.Ge(inner(slope, u), mu * norm2(u) / 2 + F_x - F_y)
    path = Evaluation("F", u * t, value=f(t), along=t)
    claim = pointwise("", strong_quasi_convexity, "", path, minimiser).claim
    assert claim == sp.Ge(t * sp.diff(f(t), t), mu * t**2 * norm2(u) / 2 + f(t) - F_y)


def test_the_models():
    upper = sp.Le(F_y, F_x + inner(p, v - u) + L / 2 * norm2(v - u))
    assert upper_model("", smooth_clients, "", AT_U, AT_V).claim == upper
    sample = [replace(one, function="f_ij") for one in (AT_U, AT_V)]
    lower = sp.Ge(F_y, F_x + inner(p, v - u) + mu / 2 * norm2(v - u))
    assert lower_model("", strongly_convex_samples, "", *sample).claim == lower
    assert lower_model("", convexity, "", *OF_F).claim == sp.Ge(F_y, F_x + inner(p, v - u))
    scaled = upper_model("", smooth_weighted, "", *OF_F, scaled_move2=clients)
    assert scaled.claim == sp.Le(F_y, F_x + inner(p, v - u) + clients / 2)


@pytest.mark.parametrize("name", sorted(assumptions.CLASSES))
def test_every_assumption_is_applied_or_has_no_inequality_that_a_derivation_uses(name):
    """An inequality of the catalogue holds at points, with the quantities that it needs."""
    assumption = assumptions.CLASSES[name]
    if assumption.inequality is None:
        # one that derivations alone can take is refused where it is not about these points
        why = (
            r"no inequality"
            if name not in assumptions.IN_PROOFS
            else r"is about F|needs f_i|must name the quantity|needs a"
        )
        with pytest.raises(BadInput, match=why):
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
    assert not {s.name for s in claim.free_symbols} & set(assumptions.QUANTITIES)


def test_the_inequalities_of_proofs():
    """Assumption 3.4 for the samples of a client, an infimum, and the variance of a draw."""
    j, n_i, own = sp.Symbol("j", real=True), sp.Symbol("n_i", real=True), sp.Symbol("own", real=True)
    g, P2 = vector("g", j), sp.Symbol("P2", real=True)
    sample, client = Evaluation("f_ij", u, g, which=j), Evaluation("f_i", u, p)
    claim = pointwise("", assumptions.local_variance, "", client, sample, sigma2_i=own, D_i=n_i).claim
    assert claim == sp.Le(total(norm2(g - p), j, n_i) / n_i, own + P2 * n_i * norm2(p), evaluate=False)
    for at in (
        (client, replace(sample, point=v)),
        (client, replace(sample, which=(m, j))),
        (client, replace(sample, function="f_i")),
        (client, replace(sample, which=sp.Integer(0))),
        (sample, client),
    ):
        with pytest.raises(BadInput, match=r"needs f_i|needs a sample"):
            pointwise("", assumptions.local_variance, "", *at, sigma2_i=own, D_i=n_i)
    assert pointwise("", assumptions.bounded_below, "", gap=f(t)).claim == sp.Ge(f(t), 0)
    noise = pointwise("", assumptions.block_variance, "", draw_deviation2=p - q, weight2=t, deviation2=sigma2)
    assert noise.claim == sp.Le(norm2(p - q), t * sigma2)


# what it does not


@pytest.mark.parametrize("claim", [
    sp.Le(norm2(p - q), L**2 * norm2(u - v) / 4), sp.Le(norm2(p - q), L**2 * norm2(u - v)), sp.Le(norm2(p), L),
], ids=["stronger", "the same", "another"])  # fmt: skip
def test_a_fact_of_an_assumption_with_an_inequality_is_taken_from_it(claim):
    """Also the inequality itself is refused when it is written down: only `pointwise` and the models make it."""
    with pytest.raises(BadInput, match=r"must be taken from the inequality grad_difference2 <= L\*\*2\*point"):
        built(Fact("A", claim, "assumption", "", "smooth_clients"))


def test_a_changed_claim_is_not_the_instance():
    fact = pointwise("A", smooth_clients, "", AT_U, AT_V)
    built(fact)
    stronger = replace(fact, claim=sp.Le(norm2(p - q), L**2 * norm2(u - v) / 4))
    with pytest.raises(BadInput, match="at its points the inequality"):
        built(stronger)
    with pytest.raises(BadInput, match="is made from an inequality"):
        built(replace(fact, assumption="plain_mean"))
    with pytest.raises(BadInput, match="is made from an inequality"):
        built(replace(fact, kind="metric"))


@pytest.mark.parametrize("shipped", TAKING, ids="/".join)
def test_no_shipped_fact_can_be_strengthened(shipped):
    """Every fact with an inequality in the catalogue, made stronger by 1, is refused; in every reading."""
    for reading in derived_readings(*shipped):
        original = derivation("/".join((*shipped, reading)))
        taken = [x for x in original.facts if x.instance is not None]
        for fact in taken:
            more = 1 if isinstance(fact.claim, sp.Le) else -1
            claim = fact.claim.func(fact.claim.lhs + more, fact.claim.rhs, evaluate=False)
            with pytest.raises(BadInput, match="at its points the inequality"):
                check_taken(original.statement, (replace(fact, claim=claim),))


def test_the_assumption_is_the_statements_own():
    """A plug-in's assumption of the same name with another inequality gives another fact."""
    fact = pointwise("A", smooth_clients, "", AT_U, AT_V)
    built(fact)
    s = {x.name: x for x in smooth_clients.inequality.free_symbols}
    weaker = Assumption("smooth_clients", "", sp.Le(s["grad_difference2"], 4 * s["L"] ** 2 * s["point_difference2"]))
    own = tuple(weaker if a.name == "smooth_clients" else a for a in LEMMA.assumptions)
    with pytest.raises(BadInput, match="at its points the inequality"):
        check_taken(replace(LEMMA, assumptions=own), (fact,))


WITH_G = Evaluation("f_i", vector("w", m), vector("g", m), which=m)


@pytest.mark.parametrize(("other", "message"), [
    (replace(WITH_G, point=vector("w", m) / 2), "as the gradient at"),
    (replace(WITH_G, function="F", which=None), "as the gradient at"),
    (replace(WITH_G, which=k), "as the gradient at"),
    (replace(WITH_G, gradient=vector("h", m)), "two gradients of f_i"),
], ids=["point", "function", "client", "gradient"])  # fmt: skip
def test_evaluations_do_not_contradict(other, message):
    """A gradient that is said to be at half the distance would make smoothness four times as strong."""
    first = pointwise("A", smooth_clients, "", WITH_G, Evaluation("f_i", ZERO, ZERO, which=m))
    at_zero = Evaluation(other.function, ZERO, ZERO, which=other.which)
    with pytest.raises(BadInput, match=message):
        built(first, pointwise("B", smooth_clients, "", other, at_zero))


def test_a_linear_part_is_left_out_at_one_point_only():
    at = [Evaluation("f_i", point, ZERO, which=m) for point in (u, v)]
    first = pointwise("A", smooth_clients, "", Evaluation("f_i", vector("x"), p, which=m), at[0])
    with pytest.raises(BadInput, match="has 0 as the gradient"):
        built(first, pointwise("B", smooth_clients, "", Evaluation("f_i", vector("y"), q, which=m), at[1]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Evaluation("g", u), "no function of the problem"),
        (lambda: Evaluation("f_i", u, p * 2), "one vector atom or the zero vector"),
        (lambda: Evaluation("f_i", u, p - q), "one vector atom or the zero vector"),
        (lambda: Evaluation("f_i", u, value=2 * F_x), "a symbol, a function of indices, or 0"),
        (lambda: Evaluation("F", u + v * t, value=f(t), along=t), "t times a vector"),
        (lambda: pointwise("", smooth_clients, "", AT_U, replace(AT_V, which=k)), "two functions"),
        (lambda: pointwise("", smooth_clients, "", *(replace(x, function="f_ij") for x in (AT_U, AT_V))), "not about"),
        (lambda: lower_model("", convexity, "", AT_U, AT_V), "is about F, not about f_i"),
        (lambda: upper_model("", convexity, "", *OF_F), "no upper model"),
        (lambda: lower_model("", smooth_clients, "", AT_U, AT_V), "no lower model"),
        (lambda: upper_model("", smooth_clients, "", AT_U, replace(AT_V, value=None)), "needs the values"),
        (lambda: pointwise("", smooth_clients, "", AT_U), "needs two points"),
        (lambda: pointwise("", finite_gradient_noise, "", noise2=clients / 4), "cannot be named"),
        (lambda: pointwise("", finite_gradient_noise, "", noise2=total(norm2(vector("g", m)), m, P)), "be named"),
        (lambda: pointwise("", smooth_samples, "", AT_U, AT_V, component_difference2=clients), "cannot be named"),
        (lambda: pointwise("", finite_gradient_noise, ""), "must name the quantity noise2"),
        (lambda: pointwise("", strong_quasi_convexity, "", *OF_F), "needs a minimiser"),
        (lambda: pointwise("", hessian_similarity, "", AT_U, AT_V), "same two points"),
    ],
    ids=range(18),
)  # fmt: skip
def test_an_assumption_says_nothing_about_other_terms(make, message):
    with pytest.raises(BadInput, match=message):
        make()
