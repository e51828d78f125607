"""Assumptions that follow from others: each reason is derived here, and none applies at other values."""

from __future__ import annotations

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.gram import Combine
from boundcheck.proof.step import Context, Status
from boundcheck.proof.vectors import inner, norm2, vector
from boundcheck.theory.assumptions import (
    IMPLICATIONS,
    convex_clients,
    convex_samples,
    follows,
    gradient_dissimilarity,
    relaxed_dissimilarity,
    smooth_clients,
    smooth_samples,
    strongly_convex_samples,
)


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
    by = Combine({"smooth 0": t, "smooth 1": 1 - t, "square": t * (1 - t)})
    assert by.check(wanted, smooth | weights, Context()).status is Status.PROVED
    assert by.check(sp.Le(2 * wanted.lhs, wanted.rhs), smooth | weights, Context()).status is not Status.PROVED
    convex = {f"convex {k}": pointwise("A", convex_samples, "", *at).claim for k, at in enumerate(points)}
    by = Combine({"convex 0": t, "convex 1": 1 - t})
    claim = sp.Ge(inner(mean[0] - mean[1], x - y), 0)
    assert by.check(claim, convex | weights, Context()).status is Status.PROVED
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
    by = Combine({"dissimilar": 1, "smooth": 2 * L * B2, "bounded": 2 * L * B2})
    assert by.check(wanted, facts, Context()).status is Status.PROVED
    assert by.check(sp.Le(clients, G2 + L * B2 * gap), facts, Context()).status is not Status.PROVED


def test_what_follows_and_what_does_not():
    assert follows(strongly_convex_samples, (convex_samples,), {"mu": 0})
    assert not follows(strongly_convex_samples, (convex_samples,), {"mu": 1})
    assert not follows(strongly_convex_samples, (convex_samples,), {})
    assert not follows(convex_samples, (strongly_convex_samples,), {"mu": 0})
    assert follows(relaxed_dissimilarity, (smooth_samples, gradient_dissimilarity), {})
    assert not follows(relaxed_dissimilarity, (gradient_dissimilarity,), {})
    assert not follows(gradient_dissimilarity, (relaxed_dissimilarity, smooth_samples), {})
    assert len(IMPLICATIONS) == 4  # each has its derivation above
