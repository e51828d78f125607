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

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import convex_samples, smooth_samples

READINGS = ("corrected",)

L, R, Sigma, q_min, N, n, S1 = symbols("L R Sigma q_min N n S1")
s1, gap, up, down, here = (f(n) for f in functions("s1 gap up down at"))
X, Y, b = (vector(name, n) for name in ("X", "Y", "b"))
# the losses of all samples together, at points relative to thb
at_minimiser, at_thb = Evaluation("f_ij", -b, X, down, which=n), Evaluation("f_ij", Vector(()), Y, here, which=n)
beyond = Evaluation("f_ij", (X - Y) / L, value=up, which=n)


def derivation(statement: Any) -> Any:
    """The derivation of the corrected reading."""
    p = Proof(statement, S1)
    p.count("rounds", N >= 1, "rounds of the schedule's window")
    p.index(n, N, "rounds")
    p.known("S1", eq(S1, total(s1, n, N) / N), "mean over the rounds")
    p.known("R", eq(R, total(gap, n, N) / N), "mean over the rounds")
    p.known("Sigma", eq(Sigma, total(norm2(Y), n, N) / N), "(11), with q_i the mean of q_i(n)")
    p.known("normalised", q_min * s1 <= norm2(X),
        "q(n) s1(n) is |X|^2, and q(n) is at least q_min; without any client both are 0")
    p.known("gap", gap >= here - down, "L^n is the sum of the clients' expected losses with q_i(n)")
    p.known("stationary", inner(X, b) >= 0, "sum of q_i(n) grad L_i is 0 at the minimiser of L^n")
    p.upper_model("smooth", smooth_samples, "every sample's loss, from thb to thb - (Y - X)/L", at_thb, beyond)
    p.lower_model("convex", convex_samples, "every sample's loss, from the minimiser of L^n to the same point",
        at_minimiser, beyond)

    p.step("(95)", norm2(Y - X) <= 2 * L * gap, dict.fromkeys(("smooth", "convex", "gap", "stationary"), 2 * L),
        why="gradients of smooth convex functions, summed")
    p.step("round", q_min * s1 <= 4 * L * gap + 2 * norm2(Y), {"normalised": 1, "(95)": 2},
        why="|X|^2 <= 2 |X - Y|^2 + 2 |Y|^2")
    p.sum_over("rounds added", None, "round", n, N, why="all rounds")
    p.conclude(S1 <= (4 * L * R + 2 * Sigma) / q_min, {"rounds added": 1 / (q_min * N)}, "S1", "R", "Sigma",
        why="divided by q_min")
    return p.done()
