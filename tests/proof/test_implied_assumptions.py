"""Assumptions that follow from others: each reason is derived here, and none applies at other values."""

from __future__ import annotations

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.gram import Combine
from boundcheck.proof.step import Context, Status
from boundcheck.proof.vectors import vector
from boundcheck.theory.assumptions import (
    IMPLICATIONS,
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
    assert len(IMPLICATIONS) == 2  # each has its derivation above
