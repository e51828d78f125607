"""Assumptions that follow from others: each reason is derived here, and none applies at other values."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp
from judged import judged_step

from boundcheck.methods.parts.exchange import Blocks
from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.methods import Combine
from boundcheck.proof.step import Fact, Status, Step
from boundcheck.proof.vectors import inner, norm2, vector
from boundcheck.theory.assumptions import (
    IMPLICATIONS,
    averages_as_objective,
    averages_uniformly,
    convex_clients,
    convex_samples,
    follows,
    gradient_dissimilarity,
    iid_clients,
    plain_mean,
    relaxed_dissimilarity,
    smooth_clients,
    smooth_samples,
    smooth_separable,
    smooth_weighted,
    strongly_convex_samples,
)
from boundcheck.theory.discovery import statement

LEMMA = statement("scgd/lemma_3_1/corrected")


def shown(claim, by, facts):
    """Whether a claim follows from facts by a combination, as facts of a derivation about these symbols."""
    facts = {name: fact for name, fact in facts.items() if name != "L"}  # that L is positive the lemma says itself
    names = [f"f{k}" for k in range(len(facts))]
    renamed = Combine({names[list(facts).index(name)]: factor for name, factor in by.items()})
    own = (Fact(name, fact, "assumption", "", "plain_mean") for name, fact in zip(names, facts.values(), strict=True))
    step = Step("it", claim, (*names, "domain L"), renamed, "")
    steps = Derivation(LEMMA, (*scope_facts(LEMMA), *own), (step,), "it", sp.Symbol("dist2_1", real=True))
    return judged_step(steps, "it", 1.0) is Status.PROVED


def test_a_convex_function_is_0_strongly_convex():
    mu = sp.Symbol("mu", real=True)
    assert strongly_convex_samples.inequality.xreplace({mu: sp.Integer(0)}) == convex_samples.inequality


def test_what_all_samples_have_their_mean_has():
    """Of two samples with any weights; a mean of more is a mean of two means, one after the other."""
    L, t = sp.symbols("L t", real=True)
    x, y = vector("x"), vector("y")
    samples = [(vector(f"g{k}"), vector(f"h{k}")) for k in (1, 2)]
    points = [[Evaluation("f_ij", at, g) for at, g in zip((x, y), pair, strict=True)] for pair in samples]
    mean = [samples[0][k] * t + samples[1][k] * (1 - t) for k in (0, 1)]
    weights = {"t >= 0": t >= 0, "t <= 1": t <= 1}
    smooth = {f"smooth {k}": pointwise("A", smooth_samples, "", *at).claim for k, at in enumerate(points)}
    wanted = sp.Le(norm2(mean[0] - mean[1]), L**2 * norm2(x - y))
    apart = (samples[0][0] - samples[0][1]) - (samples[1][0] - samples[1][1])
    weights["square"] = sp.Ge(norm2(apart), 0, evaluate=False)
    by = {"smooth 0": t, "smooth 1": 1 - t, "square": t * (1 - t)}
    assert shown(wanted, by, smooth | weights)
    assert not shown(sp.Le(2 * wanted.lhs, wanted.rhs), by, smooth | weights)
    convex = {f"convex {k}": pointwise("A", convex_samples, "", *at).claim for k, at in enumerate(points)}
    by = {"convex 0": t, "convex 1": 1 - t}
    claim = sp.Ge(inner(mean[0] - mean[1], x - y), 0)
    assert shown(claim, by, convex | weights)
    assert follows(smooth_clients, (smooth_samples,), {})
    assert follows(convex_clients, (convex_samples,), {})
    assert not follows(smooth_samples, (smooth_clients,), {})
    assert not follows(convex_samples, (convex_clients,), {})


def test_relaxed_dissimilarity_from_the_descent_lemma():
    L, G2, B2, gap, clients, low = sp.symbols("L G2 B2 gap clients low", real=True)
    x, s = vector("x"), vector("s")
    facts = {
        "smooth": upper_model(
            "smooth",
            smooth_clients,
            "F is L-smooth",
            Evaluation("F", x, s, gap),
            Evaluation("F", x - s * (1 / L), value=low),
        ).claim,
        "bounded": low >= 0,
        "dissimilar": pointwise(
            "A", gradient_dissimilarity, "", Evaluation("F", x, s, gap), client_grad2=clients
        ).claim,
        "L": L > 0,
        "B2": B2 >= 0,
    }
    wanted = sp.Le(clients, G2 + 2 * L * B2 * gap)
    by = {"dissimilar": 1, "smooth": 2 * L * B2, "bounded": 2 * L * B2}
    assert shown(wanted, by, facts)
    assert not shown(sp.Le(clients, G2 + L * B2 * gap), by, facts)


def test_the_inequalities_of_the_blocks_are_added_up():
    """|grad f(x) - grad f(y)|^2 is the sum over the blocks, here of two, and so is the right side."""
    one, two, moved, also = (vector(name) for name in ("one", "two", "moved", "also"))
    L = sp.symbols("L_1 L_2", real=True)
    blocks = {
        name: smooth_separable.inequality.xreplace(
            {sp.Symbol("block_difference2", real=True): norm2(g), sp.Symbol("scaled_block_difference2", real=True): s}
        )
        for name, g, s in (("1", one, L[0] ** 2 * norm2(moved)), ("2", two, L[1] ** 2 * norm2(also)))
    }
    whole = smooth_weighted.inequality.xreplace(
        {
            sp.Symbol("grad_difference2", real=True): norm2(one) + norm2(two),
            sp.Symbol("scaled_difference2", real=True): L[0] ** 2 * norm2(moved) + L[1] ** 2 * norm2(also),
        }
    )
    assert shown(whole, {"1": 1, "2": 1}, blocks)
    assert not shown(whole, {"1": 1}, {"1": blocks["1"]})
    assert not follows(smooth_separable, (smooth_weighted,), {})


def test_equal_weights_are_averaged_equally():
    own, by_data, uniform = [Fraction(1, 3)] * 3, Blocks(2, weights="data"), Blocks(2, weights="uniform")
    assert list(by_data.of(own)) == list(uniform.of(own)) == own
    assert follows(averages_uniformly, (averages_as_objective, iid_clients), {})
    assert follows(averages_as_objective, (averages_uniformly, plain_mean), {})
    for given in ((averages_uniformly,), (plain_mean,), (averages_uniformly, iid_clients)):
        assert not follows(averages_as_objective, given, {})
    assert list(by_data.of([Fraction(1, 4), Fraction(3, 4)])) != list(uniform.of([Fraction(1, 4), Fraction(3, 4)]))
    assert not follows(averages_uniformly, (averages_as_objective,), {})


def test_what_follows_and_what_does_not():
    assert follows(strongly_convex_samples, (convex_samples,), {"mu": 0})
    assert not follows(strongly_convex_samples, (convex_samples,), {"mu": 1})
    assert not follows(strongly_convex_samples, (convex_samples,), {})
    assert not follows(convex_samples, (strongly_convex_samples,), {"mu": 0})
    assert follows(relaxed_dissimilarity, (smooth_samples, gradient_dissimilarity), {})
    assert not follows(relaxed_dissimilarity, (gradient_dissimilarity,), {})
    assert not follows(gradient_dissimilarity, (relaxed_dissimilarity, smooth_samples), {})
    assert len(IMPLICATIONS) == 7  # each has its derivation above
