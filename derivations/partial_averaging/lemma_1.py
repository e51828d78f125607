"""The proof of Lemma 1 (partial model averaging, Appendix B), corrected, as checked steps.

Vectors are random and <u, v> is the expectation of their inner product, also over a client that is drawn with the
weights p_i where a vector belongs to a client. r counts the iterations that are done.

    s(r)  gradient of F at u, the averaged model       gb(r)  sum of p_i grad F_i(x_i), the gradients at the models
    g(r)  its stochastic form, so that u' = u - eta g  c(r)   grad F_i(u) - grad F_i(x_i) of a client so drawn
    gap(r)   expected gap at u     steps(r), means(r)  sums over the blocks of L_j E|eta g_j|^2 and L_j E|gb_j|^2
    apart(r) sum of p_i L_j^2 E|u_j - x_ij|^2 over clients and blocks

The identity (21) is used for gb, not worker by worker, so that the clients may differ.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import Accumulation
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_weighted

READINGS = ("corrected",)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


eta, K, Lmax, sum_p2, noise, gap_0, apart_mean = _symbols("eta K Lmax sum_p2 sum_L_sigma2 gap_0 L2_discrepancy")
r, mean = _symbols("r mean")
gap: Any = sp.Function("gap", real=True)
steps, means, apart = (sp.Function(name, real=True)(r) for name in ("steps", "means", "apart"))
s, g, gb, c = (vector(name, r) for name in ("s", "g", "gb", "c"))
u, x = Vector(()), vector("x", r)  # the averaged model, to which points are relative, and the model of the drawn client

FACTS = (
    Fact("index r", sp.And(r >= 0, r <= K - 1), "index", "iterations"),
    Fact("mean", sp.Eq(mean, total(norm2(s), r, K) / K), "metric", "over u_1, ..., u_K"),
    Fact("discrepancy", sp.Eq(apart_mean, total(apart, r, K) / K), "metric", "as measured"),
    Fact("start", sp.Eq(gap_0, gap(0)), "metric", "the gap of the common start"),
    Fact("bounded", gap(K) >= 0, "assumption", "inf F is finite", "bounded_below"),
    upper_model(
        "descent",
        smooth_weighted,
        "(19) for u' = u - eta g: a Hessian whose square is at most diag(L_j^2) is at most diag(L_j)",
        Evaluation("F", u, s, gap(r)),
        Evaluation("F", g * -eta, value=gap(r + 1)),
        scaled_move2=steps,
    ),
    Fact(
        "unbiased",
        sp.Ge(inner(s, g), inner(s, gb)),
        "assumption",
        "g has the mean gb whatever happened before, since the averages have the weights p_i",
        "block_variance",
    ),
    Fact(
        "noise",
        sp.Le(steps, eta**2 * (sum_p2 * noise + means)),
        "assumption",
        "(23) to (26) in every block: independent noise of the clients, of variance sigma_j^2, with the weights p_i",
        "block_variance",
    ),
    Fact("largest", sp.Le(means, Lmax * norm2(gb)), "metric", "every L_j is at most Lmax"),
    Fact(
        "mean of c",
        sp.Ge(inner(c - s + gb, s - gb), 0),
        "metric",
        "s - gb is the mean of c over the client that is drawn",
    ),
    pointwise(
        "smooth",
        smooth_weighted,
        "one inequality over all blocks, for the client's objective without its linear part at its own model",
        Evaluation("f_i", u, c, which=r),
        Evaluation("f_i", x, Vector(()), which=r),
        scaled_difference2=apart,
    ),
)
SIZES = ("domain eta", "domain Lmax", "condition step size")
HALF = sp.Rational(1, 2)

STEPS = (
    Step(
        "(30)",
        sp.Le(norm2(s - gb), apart),
        ("mean of c", "smooth"),
        Combine({"mean of c": 2, "smooth": 1}),
        "Jensen's inequality over the clients",
    ),
    Step(
        "(22)",
        sp.Ge(2 * inner(s, gb), norm2(s) + norm2(gb) - apart),
        ("(30)",),
        Combine({"(30)": 1}),
        "2 <a, b> = |a|^2 + |b|^2 - |a - b|^2",
    ),
    Step(
        "decrease",
        sp.Le(gap(r + 1), gap(r) - eta / 2 * norm2(s) + eta / 2 * apart + eta**2 / 2 * sum_p2 * noise),
        ("descent", "unbiased", "noise", "largest", "(22)", *SIZES),
        Combine({"descent": 1, "unbiased": eta, "noise": HALF, "largest": eta**2 / 2, "(22)": eta / 2}),
        "eta Lmax <= 1 leaves nothing of |gb|^2",
    ),
    Step(
        "(28)",
        sp.Le(
            gap(K),
            gap(0) + total(-eta / 2 * norm2(s) + eta / 2 * apart + eta**2 / 2 * sum_p2 * noise, r, K),
        ),
        ("decrease", "domain K"),
        Accumulation("decrease", gap(r), r, K),
        "all iterations",
    ),
    Step(
        "conclusion",
        sp.Le(mean, 2 * gap_0 / (eta * K) + eta * sum_p2 * noise + apart_mean),
        ("(28)", "mean", "discrepancy", "start", "bounded", "domain K", "domain eta"),
        Combine({"(28)": 2 / (eta * K), "bounded": 2 / (eta * K)}),
        "(18)",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the corrected reading."""
    return Derivation(statement, (*scope_facts(statement), *FACTS), STEPS, conclusion="conclusion", target=mean)
