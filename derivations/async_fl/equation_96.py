"""The proof of (96) (asynchronous federated learning, Appendix A.4), corrected, as checked steps.

<u, v> is the sum over the clients of q_i(n) times the expectation, over the sample, of the inner product of what
belongs to the client. n counts the rounds.

    X(n)  g_i at the minimiser of L^n       b(n)  from it to the surrogate's minimiser thb
    Y(n)  g_i at thb                        gap(n)  L^n(thb) - min L^n      s1(n)  Sigma_1 of the round
    up(n), down(n)  sum of q_i(n) times the expected loss at thb - (Y - X)/L, and at the minimiser of L^n
    at(n)  the same at thb
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import convex_samples, smooth_samples

READINGS = ("corrected",)

L, R, Sigma, q_min, N, n, S1 = sp.symbols("L R Sigma q_min N n S1", real=True)
s1, gap, up, down, here = (sp.Function(name, real=True)(n) for name in ("s1", "gap", "up", "down", "at"))
X, Y, b = (vector(name, n) for name in ("X", "Y", "b"))
# the losses of all samples together, at points relative to thb
at_minimiser, at_thb = Evaluation("f_ij", -b, X, down, which=n), Evaluation("f_ij", Vector(()), Y, here, which=n)
beyond = Evaluation("f_ij", (X - Y) / L, value=up, which=n)

FACTS = (
    Fact("rounds", N >= 1, "count", "rounds of the schedule's window"),
    Fact("index n", sp.And(n >= 0, n <= N - 1), "index", "rounds"),
    Fact("S1", sp.Eq(S1, total(s1, n, N) / N), "metric", "mean over the rounds"),
    Fact("R", sp.Eq(R, total(gap, n, N) / N), "metric", "mean over the rounds"),
    Fact("Sigma", sp.Eq(Sigma, total(norm2(Y), n, N) / N), "metric", "(11), with q_i the mean of q_i(n)"),
    Fact(
        "normalised",
        sp.Le(q_min * s1, norm2(X)),
        "metric",
        "q(n) s1(n) is |X|^2, and q(n) is at least q_min; without any client both are 0",
    ),
    Fact("gap", sp.Ge(gap, here - down), "metric", "L^n is the sum of the clients' expected losses with q_i(n)"),
    Fact("stationary", sp.Ge(inner(X, b), 0), "metric", "sum of q_i(n) grad L_i is 0 at the minimiser of L^n"),
    upper_model("smooth", smooth_samples, "every sample's loss, from thb to thb - (Y - X)/L", at_thb, beyond),
    lower_model(
        "convex",
        convex_samples,
        "every sample's loss, from the minimiser of L^n to the same point",
        at_minimiser,
        beyond,
    ),
)

STEPS = (
    Step(
        "(95)",
        sp.Le(norm2(Y - X), 2 * L * gap),
        ("smooth", "convex", "gap", "stationary", "domain L"),
        Combine({"smooth": 2 * L, "convex": 2 * L, "gap": 2 * L, "stationary": 2 * L}),
        "gradients of smooth convex functions, summed",
    ),
    Step(
        "round",
        sp.Le(q_min * s1, 4 * L * gap + 2 * norm2(Y)),
        ("normalised", "(95)"),
        Combine({"normalised": 1, "(95)": 2}),
        "|X|^2 <= 2 |X - Y|^2 + 2 |Y|^2",
    ),
    Step(
        "rounds added",
        sp.Le(total(q_min * s1, n, N), total(4 * L * gap + 2 * norm2(Y), n, N)),
        ("round", "rounds"),
        SumOver("round", n, N),
        "all rounds",
    ),
    Step(
        "conclusion",
        sp.Le(S1, (4 * L * R + 2 * Sigma) / q_min),
        ("rounds added", "S1", "R", "Sigma", "domain q_min", "rounds"),
        Combine({"rounds added": 1 / (q_min * N)}),
        "divided by q_min",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the corrected reading."""
    return Derivation(statement, (*scope_facts(statement), *FACTS), STEPS, conclusion="conclusion", target=S1)
