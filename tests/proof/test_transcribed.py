"""What an author says of rounds, draws, gradients and variances is refused where it contradicts itself."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.at_points import DEVIATION, Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.laws import Order
from boundcheck.proof.methods import Imported
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import vector_total
from boundcheck.proof.transcribed import variance_of
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import block_variance, smooth_samples
from boundcheck.theory.discovery import statement

r, k, K, j, a, i, n, t, T, y, z = sp.symbols("r k K j a i n t T y z", real=True)
eta, D_i, variance, dist2_0 = sp.symbols("eta D_i variance dist2_0", real=True)
s, g, x, slope, mean, error = *(vector(q, r) for q in "sgx"), vector("slope"), vector("g"), vector("error")
ZERO, dist2, gap = Vector(()), sp.Function("dist2", real=True), sp.Function("gap", real=True)
SGD, DANE = derivation("classics/sgd_convex/sharp"), derivation("feddane/theorem_5/sharp_any_cohort")
THEOREM, T6 = statement("scgd/theorem_3_3/corrected"), statement("feddane/theorem_6/corrected")
B5, D1 = statement("fedshuffle/lemma_b_5/corrected"), statement("fedshuffle/lemma_d_1/corrected")


def refused(why: str) -> Any:
    """Nothing is refused where there is no reason."""
    return pytest.raises(BadInput, match=why) if why else nullcontext()


def made(about: Any, facts: Any = (), target: Any = variance, **more: Any) -> Derivation:
    """A derivation of the statement with these facts and a step that is taken."""
    steps = (Step("it", sp.Ge(norm2(error), 0, evaluate=False), (), Imported("taken"), ""),)
    return Derivation(about, (*scope_facts(about), *facts), steps, "it", target, **more)


ALONE, VANISHES = "depends on the last draw; state what holds in expectation", "a sum of squares is at most 0"


@pytest.mark.parametrize(("original", "claim", "why"), [
    (SGD, VectorEquality(g, s), ALONE), (SGD, VectorEquality(s, g), ALONE), (SGD, VectorEquality(g * 2, s + x), ALONE),
    (SGD, VectorEquality(g, ZERO), ALONE), (DANE, VectorEquality(mean, slope), ALONE),
    (DANE, VectorEquality(vector_total(vector("G", j), j, K), slope * K), ALONE),
    (SGD, VectorEquality(vector("x", r + 1), x - s * eta), ALONE), (SGD, sp.Le(norm2(g - s), 0), VANISHES),
    (SGD, sp.Ge(0, norm2(g - s)), VANISHES), (SGD, sp.Eq(norm2(g - s), 0), VANISHES),
    (SGD, sp.Le(norm2(g) + norm2(s), 2 * inner(g, s)), VANISHES),
    (SGD, sp.Eq(inner(g, x), inner(s, x)), ""), (SGD, sp.Le(inner(g - s, x), 0), ""),
    (SGD, VectorEquality(vector("x", r + 1), x - g * eta), ""),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("kind", ["assumption", "algorithm"])
def test_a_mean_is_no_equation_of_vectors(original: Derivation, claim: Any, why: str, kind: str) -> None:
    """E g = s as g == s would take the variance of g away."""
    assumed = {a.name for a in original.statement.assumptions} & {"block_variance", "unbiased_gradient_cohort"}
    fact = Fact("E g", claim, kind, "", assumed.pop() if kind == "assumption" else "")
    with refused(why):
        replace(original, facts=(*(f for f in original.facts if f.name != "E g"), fact))


@pytest.mark.parametrize(("drawn", "why"), [
    (SGD.drawn, ""), ((), "is not declared|last draw"), (((s, r), (x, r)), r"g\(r\) depends is not"),
    ((*SGD.drawn, (g + s, r)), "no single vector"), ((*SGD.drawn, (g * 2, r)), "no single vector"),
    (((s, r), (g, r + 1), (x, k - r)), "cannot be compared"),
])  # fmt: skip
def test_a_declaration_is_about_every_vector(drawn: Any, why: str) -> None:
    with refused(why):
        replace(SGD, drawn=drawn)


def test_a_defined_vector_depends_on_what_defines_it() -> None:
    about, facts = (
        statement("feddane/theorem_5/as_printed"),
        (Fact("e", VectorEquality(error, mean - slope), "definition", ""),),
    )
    assert made(about, facts, drawn=DANE.drawn)
    with pytest.raises(BadInput, match="only error depends on the last draw"):
        made(about, (*facts, Fact("gone", VectorEquality(error, ZERO), "algorithm", "")), drawn=DANE.drawn)
    with pytest.raises(BadInput, match="are those of its definition"):
        made(about, facts, drawn=(*DANE.drawn, (error, 0)))


@pytest.mark.parametrize(("rounds", "why"), [
    (((dist2(k), n * k),), ""), (((y, n), (vector("w", k), k)), ""),
    (((dist2(k), n),), "are n, but the statement's are"), (((dist2(k), n * (k + 1)),), "but the statement's are"),
    (((dist2(k), n * k), (dist2(t), t)), "are given twice"), (((dist2_0, n),), "a value at the start"),
    (((dist2(2 * k), n),), "must be symbols"), (((dist2(k), n * t),), "may mention its arguments"),
    (((dist2(k) + 1, n),), "only a symbol, a function or a vector"), (((vector("w") * 2, n),), "only single vectors"),
    (((z, n),), "follow from its definition"), (((eta, 5),), "is no value of a run"), (((k, 5),), "is no value of"),
])  # fmt: skip
def test_rounds_do_not_contradict_the_statement(rounds: Any, why: str) -> None:
    facts = (Fact("k", k >= 0, "index", ""), Fact("z", sp.Eq(z, 2 * y), "definition", ""))
    with refused(why):
        assert made(THEOREM, facts, dist2(K), rounds=rounds).clock.rounds(dist2(K)) == n * K


@pytest.mark.parametrize(("more", "why"), [((), ""), (((y, T),), "an average over rounds, which has none")])
def test_an_average_over_rounds_has_no_rounds(more: Any, why: str) -> None:
    with refused(why):
        made(T6, target=y, rounds=((gap(t), t), *more))


u, w, X, p = vector("u", i), vector("w"), vector("x", a), vector("p", a)
ORDER, h = Order("order", "without_replacement", ((X, u),), (u, w), n), vector("h", i)


def at(gradient: Vector, point: Vector, which: Any = a) -> Fact:
    """A fact that says where the gradient is taken: that of f_ij at a point."""
    origin = Evaluation("f_ij", ZERO, vector(f"{gradient.terms[0][0].func}0", which), which=which)
    return pointwise(f"at {gradient}", smooth_samples, "", Evaluation("f_ij", point, gradient, which=which), origin)


@pytest.mark.parametrize(("past", "facts", "why"), [
    # the gradient where the run is, which the order moves: neither fixed nor one of a fixed family
    ((u, w), (at(X, p),), "is a gradient at a point that is not known before the draw, p"),
    ((u, w, h), (at(h, p.at(a, i), i),), "is a gradient at a point that is not known before the draw, p"),
    ((u, w), (at(X, w),), ""), ((u, w, h), (at(h, w, i),), ""),
    ((u, w), (at(X, w), at(u, w * 2, i)), "is the gradient of other functions or elsewhere"),
    ((u, w), (at(X, w), at(u, w, i)), ""),
], ids=str)  # fmt: skip
def test_what_is_drawn_is_known_where_it_is_taken(past: Any, facts: Any, why: str) -> None:
    index = tuple(Fact(str(c), sp.And(c >= 0, c <= D_i - 1), "index", "") for c in (a, i))
    law = Order("order", "fedshuffle_mvr", ((X, u),), past, D_i)
    with refused(why):
        made(D1, (*index, *facts), laws=(law,), drawn=((p, a),))


def test_the_metric_is_the_variance_that_it_says() -> None:
    first = vector_total(X, a, k)
    true = variance_of("variance", variance, first / k, ORDER)
    own: Any = {"laws": (ORDER,), "drawn": ((w, 0),)}
    assert made(B5, (true,), **own)
    assert true.claim == sp.Eq(variance, norm2(first / k - vector_total(u, i, n) / n), evaluate=False)
    other = replace(B5, metric=replace(B5.metric, quantity="dist2"))
    for about, fact, why in (
        (B5, replace(true, claim=sp.Eq(variance, norm2(first / k), evaluate=False)), "is not what the variance of"),
        (B5, replace(true, claim=sp.Le(variance, true.claim.rhs, evaluate=False)), "is not what the variance of"),
        (B5, variance_of("variance", variance, first / k + vector("h"), ORDER), "what its law does not draw"),
        (B5, variance_of("variance", variance, first / k, replace(ORDER, name="other")), "what its law does not draw"),
        (other, true, "is a variance, which it is not"), (B5, replace(true, kind="algorithm"), "is a variance, which"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=why):
            made(about, (fact,), **own)


@pytest.mark.parametrize(("alpha", "why"), [("alpha", ""), ("beta", "takes beta for alpha, which the statement does")])
def test_the_alpha_of_weights_is_the_statements(alpha: str, why: str) -> None:
    original = derivation("async_fl/lemma_2/corrected")
    with refused(why):
        replace(original, laws=(replace(original.laws[0], correlation=sp.Symbol(alpha, real=True)),))


@pytest.mark.parametrize(("factor", "why"), [(1, ""), (2, "for a draw less its mean")])
def test_a_deviation_is_a_draw_less_its_mean(factor: int, why: str) -> None:
    original = derivation("partial_averaging/lemma_1/corrected")
    noise = next(f for f in original.facts if f.name == "noise")
    named = tuple((q, v * factor if q == DEVIATION else v) for q, v in noise.instance.named)
    other = replace(noise.instance, named=named)
    fact = replace(noise, claim=other.claim(block_variance), instance=other)
    with refused(why):
        replace(original, facts=tuple(fact if f is noise else f for f in original.facts))
