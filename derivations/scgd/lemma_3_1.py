"""The proof of Lemma 3.1 (S. Ma, semi-cyclic gradient descent, Appendix A) as checked steps.

One cycle makes P = n E local steps, counted by m = 0, ..., P-1. All positions are taken relative to ts, the
minimiser nearest to the start x of the cycle:

    w(m)   position after m local steps minus ts         g(m)   gradient used in step m
    gx(m)  gradient of that device's loss at x           gs(m)  the same at ts
    slope  gradient of F at x                            phi(t) F(ts + t (x - ts))

The readings share every step up to the display that combines the bounds (E9), and differ in the constant C of the
step condition, which is the statement's, and in how the display becomes the contraction. The sharp one ends there.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, le, symbols
from boundcheck.proof.rules import Limit, MeanValue, PartialSum
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, norm2, vector
from boundcheck.theory.assumptions import finite_gradient_noise, smooth_clients, strong_quasi_convexity

READINGS = ("corrected", "as_printed_main", "as_printed_appendix", "conservative", "sharp")

mu, L, n, E, eta, sigma2, dist2_0 = symbols("mu L n E eta sigma2 dist2_0")
P, s, m, t, a, T1, T2, S, dist2_1, F_star = symbols("P s m t a T1 T2 S dist2_1 F_star")
phi, half = functions("phi"), sp.Rational(1, 2)


def w(k: Any) -> Vector:
    """Position after k local steps, relative to ts."""
    return vector("w", k)


u, slope, zero = w(0), vector("grad_F"), Vector(())
g, gx, gs = vector("g", m), vector("gx", m), vector("gs", m)
drift, R = w(m) - u, vector_total(g - gx, m, P)
# the loss of the device that makes step m, and F
at_w, at_x, at_ts = (Evaluation("f_i", point, grad, which=m) for point, grad in ((w(m), g), (u, gx), (zero, gs)))
F_x, F_ts = Evaluation("F", u, slope, phi(1)), Evaluation("F", zero, zero, F_star)
F_segment = Evaluation("F", u * t, value=phi(t), along=t)

quotient = (1 - mu * s + L**2 * s**2) / (1 - mu * s / 2)
cubic = 4 * L**4 * s**3 / (mu * (1 - 2 * L**2 * s**2))
bracket, contraction = quotient + cubic, 1 - mu * s / 3
noise, final_noise = 2 * L**2 * s**3 / (mu * (1 - 2 * L**2 * s**2)), 4 * L**2 * s**3 / mu


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Lemma 3.1; the step condition is the statement's."""
    p = Proof(statement, dist2_1, squares=(T1, T2, S, sigma2, dist2_0))
    known(p)
    p.step("P >= 1", P >= 1, "P", why="a cycle has at least one step")
    p.signs(s > 0, "s", why="the total step is positive")
    p.step("s = P eta", eq(s, P * eta), "s", "P", why="the total step in terms of P")
    if p.reading == "sharp":
        limit, solvable = "summable", 1 - 2 * L**2 * s**2 > 0
        p.step(limit, 2 * L**2 * s**2 < 1, "s", why="the step condition in terms of s")
    else:
        limit, solvable = "s <= C", 1 - 2 * L**2 * s**2 >= half
        p.step(limit, le(s, p.condition().rhs), "s", why="the step condition in terms of s")
    p.step("requirement 1", 1 - mu * s / 2 >= half, limit, "s > 0", why="from the step condition, with (4)")
    p.step("requirement 2", solvable, limit, "s > 0", why="from the step condition")
    gradient_and_growth(p)
    cycle(p)
    if p.reading == "sharp":
        p.conclude(dist2_1 <= bracket * dist2_0 + noise * sigma2, {"end": 1, "E9": 1}, "requirement 1", "requirement 2",
            why="the distance to the solution set is at most that to ts", name="E13")
    elif p.reading == "corrected":
        p.step("E11'", bracket <= contraction, "s <= C", "requirement 1", "requirement 2", "s > 0",
            why="the bracket itself, nothing substituted, is small enough for every s up to C")
        contracts(p, "E11'")
    else:
        rounded(p, kappa=8 if p.reading == "conservative" else 4)
        contracts(p, "E12")
    return p.done()


def known(p: Proof) -> None:
    """Notation, and what the paper says of one cycle."""
    p.define(P, n * E, "number of local steps of a cycle")
    p.define(s, n * E * eta, "total step of a cycle")
    p.define(T1, norm2(u - slope * s), "Appendix A")
    p.define(T2, total(norm2(g - gx), m, P), "Appendix A")
    p.define(S, eta**2 * total(norm2(g), m, P), "sum of the squared lengths of the local steps")
    p.known("start", eq(dist2_0, norm2(u)), "ts is a minimiser nearest to x")
    p.known("end", dist2_1 <= norm2(w(P)), "the distance to the solution set is at most that to ts")
    p.algorithm("local step", eq(w(m + 1), w(m) - g * eta), "Algorithm 1")
    p.algorithm("cycle", eq(vector_total(gx, m, P), slope * P),
        "each device makes E of the n E steps, and F is the mean of the losses")
    p.known("minimiser", eq(vector_total(gs, m, P), zero), "ts is a minimiser, where the gradient of F vanishes")
    p.index(m, P, "local steps")
    p.range("index a", sp.And(a > 0, a < 1), "the segment without a piece at ts")
    p.range("index t", sp.And(t >= a, t <= 1), "points of the segment from ts to x")
    p.pointwise("A2.2 at w(m), x", smooth_clients, "Assumption 2.2", at_w, at_x)
    p.pointwise("A2.2 at w(m), ts", smooth_clients, "Assumption 2.2", at_w, at_ts)
    p.pointwise("A2.2 at x, ts", smooth_clients, "Assumption 2.2", at_x, at_ts)
    p.pointwise("A2.1 at x", strong_quasi_convexity, "Assumption 2.1, with phi(1) = F(x)", F_x, F_ts)
    p.pointwise("A2.1 on the segment", strong_quasi_convexity,
        "Assumption 2.1 at ts + t (x - ts), whose nearest minimiser is ts as well", F_segment, F_ts)
    p.known("minimum at x", phi(1) >= F_star, "F_star is the least value of F")
    p.known("minimum at a", phi(a) >= F_star, "F_star is the least value of F")
    p.pointwise("A2.3", finite_gradient_noise, "Assumption 2.3 over a cycle, in which each device is met E times",
        noise2=total(norm2(gs), m, P) / P)


def gradient_and_growth(p: Proof) -> None:
    """F is L-smooth; E0: quadratic growth, and mu <= L."""
    p.square_of_sum("gradient of F.1", gx - gs, over=(m, P), uses="P >= 1",
        why="the mean of the devices' gradient differences")
    p.sum_over("gradient of F.2", total(norm2(gx - gs), m, P) <= P * L**2 * norm2(u), "A2.2 at x, ts", m, P, "P >= 1",
        why="Assumption 2.2 for every device")
    p.step("gradient of F", norm2(slope) <= L**2 * norm2(u), "gradient of F.1", "gradient of F.2", "cycle", "minimiser",
        "P >= 1", why="F is L-smooth as well")
    p.step("E0.1", sp.diff((phi(t) - F_star) / t, t) >= mu / 2 * norm2(u), "A2.1 on the segment",
        why="the slope of (phi - F_star)/t on the segment")
    p.rule("E0.2", MeanValue((phi(t) - F_star) / t, t, mu / 2 * norm2(u), a, "E0.1"), "E0.1",
        why="integrated from a to 1")
    p.step("E0.3", phi(1) - F_star >= mu / 2 * norm2(u) * (1 - a), "E0.2", "minimum at a",
        why="the value at a is not below the minimum")
    p.rule("E0.4", Limit("E0.3", a), "E0.3", claim=phi(1) - F_star >= mu / 2 * norm2(u), why="a to 0")
    p.step("E0.5", mu * norm2(u) <= L * norm2(u), {"E0.4": 1, "A2.1 at x": 1, "gradient of F": 1 / (2 * L)},
        why="the order mu <= L follows wherever x is not a minimiser")


def cycle(p: Proof) -> None:
    """E1 to E9: the distance after a cycle."""
    p.telescope("E1.1", eq(w(P), u + vector_total(g * -eta, m, P)), "local step", m, P, "P >= 1",
        why="the cycle is the sum of its local steps")
    p.step("E1", eq(w(P), u - slope * s - R * eta), "E1.1", "cycle", "s = P eta",
        why="gradients at x added and subtracted")
    p.square_of_sum("E2", u - slope * s, R * -eta, weights=(1 - mu * s / 2, mu * s / 2),
        claim=norm2(w(P)) <= T1 / (1 - mu * s / 2) + 2 * eta**2 / (mu * s) * norm2(R),
        uses=("E1", "T1", "requirement 1", "s > 0"), why="convexity of the squared norm with t = mu s/2")
    p.square_of_sum("E3.1", g - gx, over=(m, P), claim=norm2(R) <= P * T2, uses=("T2", "P >= 1"),
        why="the squared sum of P vectors")
    p.step("E3", norm2(w(P)) <= T1 / (1 - mu * s / 2) + 2 * eta / mu * T2, "E2", "E3.1", "s = P eta", "P >= 1",
        "requirement 1", why="the second term of E2 by E3.1")
    p.step("E4", T1 <= (1 - mu * s + L**2 * s**2) * dist2_0, "T1", "start", "gradient of F", "A2.1 at x",
        "minimum at x", "s > 0", why="the square expanded; F(x) - F_star is dropped")
    p.telescope("E5.1", eq(w(m), u + vector_total(g * -eta, m, m)), "local step", m, m, why="the drift after m steps")
    p.square_of_sum("E5.2", g * -eta, over=(m, m), claim=norm2(drift) <= m * eta**2 * total(norm2(g), m, m),
        uses="E5.1", why="the squared sum of m vectors")
    p.rule("E5.3", PartialSum(norm2(g), m, m, P), why="the first m of P terms")
    p.step("E5.4", norm2(drift) <= m * S, "E5.2", "E5.3", "S", why="both together")
    p.sum_over("E5.5", total(norm2(drift), m, P) <= P * (P - 1) / 2 * S, "E5.4", m, P, "P >= 1",
        why="0 + 1 + ... + (P-1) = P(P-1)/2")
    p.sum_over("E5.6", T2 <= L**2 * total(norm2(drift), m, P), "A2.2 at w(m), x", m, P, "T2", "P >= 1",
        why="Assumption 2.2 in every step")
    p.step("E5", T2 <= L**2 * P**2 / 2 * S, "E5.5", "E5.6", "P >= 1", why="P(P-1) <= P^2")
    p.square_of_sum("E6.1", g - gs, gs, why="the gradient at ts subtracted and added")
    p.square_of_sum("E6.2", u, drift, why="x subtracted and added")
    p.step("E6", eta**2 * norm2(g) <= 4 * eta**2 * L**2 * (norm2(u) + norm2(drift)) + 2 * eta**2 * norm2(gs),
        {"E6.1": eta**2, "A2.2 at w(m), ts": 2 * eta**2, "E6.2": 2 * eta**2 * L**2}, why="the length of one local step")
    p.sum_over("E7.1", S <= total(4 * eta**2 * L**2 * (norm2(u) + norm2(drift)) + 2 * eta**2 * norm2(gs), m, P),
        "E6", m, P, "S", "P >= 1", why="E6 summed over the cycle")
    p.step("E7", S <= 4 * eta**2 * L**2 * P * dist2_0 + 2 * eta**2 * L**2 * P**2 * S + 2 * eta**2 * P * sigma2,
        {"E7.1": 1, "E5.5": 4 * eta**2 * L**2, "A2.3": 2 * eta**2 * P}, "start", "P >= 1",
        why="the drift by E5.5, the noise by Assumption 2.3")
    p.step("E8", T2 <= L**2 * P**3 * eta**2 * (2 * L**2 * dist2_0 + sigma2) / (1 - 2 * L**2 * s**2), "E5", "E7",
        "s = P eta", "requirement 2", "P >= 1", why="E7 solved for S and put into E5")
    p.step("E9", norm2(w(P)) <= bracket * dist2_0 + noise * sigma2,
        {"E3": 1, "E4": 1 / (1 - mu * P * eta / 2), "E8": 2 * eta / mu}, "s = P eta", "requirement 1", "requirement 2",
        "P >= 1", why="the two bounds combined")


def rounded(p: Proof, kappa: int) -> None:
    """E10 to E12: the bracket of E9 as printed, with kappa L^4/mu for the factor of s^3 in the third requirement."""
    square, root = (L**2 - mu**2 / 4) * s**2, 1 - mu * s / 2

    def display(factor: int) -> Any:
        return root + 2 * square + factor * L**4 * s**3 / mu

    p.step("E10", eq(quotient, root + square / root), "requirement 1", "s > 0", why="the first quotient divided out")
    p.step("E11.1", quotient <= root + 2 * square, "requirement 1", "s > 0", why="E10 with 1 - mu s/2 >= 1/2")
    p.step("E11.2", cubic <= 8 * L**4 * s**3 / mu, "requirement 2", "s > 0", why="1 - 2 L^2 s^2 >= 1/2")
    p.step("E11", bracket <= display(8), {"E11.1": 1, "E11.2": 1}, "requirement 1", "requirement 2", "s > 0",
        why="the bracket of E9 with requirements 1 and 2 put in")
    p.step("requirement 3", display(kappa) <= contraction, "s <= C", "s > 0",
        why="from the step condition: C is the positive root of the quadratic that is left after dividing by s")
    p.step("E12.1", display(8) <= contraction, "requirement 3", "s <= C", "requirement 1", "requirement 2", "s > 0",
        why="what became of the bracket in E11, by the third requirement")
    p.step("E12", bracket <= contraction, {"E11": 1, "E12.1": 1}, "requirement 1", "requirement 2", "s > 0",
        why="E11 and E12.1 in a row")


def contracts(p: Proof, factor: str) -> None:
    """The conclusion from E9 and the step that bounds its bracket."""
    p.step("E11 noise", noise <= final_noise, "requirement 2", "s > 0", why="requirement 2 in the noise term")
    p.conclude(dist2_1 <= contraction * dist2_0 + final_noise * sigma2, {"end": 1, "E9": 1}, factor, "E11 noise",
        "requirement 1", "requirement 2", "s > 0", why="the distance to the solution set is at most that to ts",
        name="E13")
